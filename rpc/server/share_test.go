//go:build linux

package server_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// TestRolloutIntoSlots compares a rollout in slots with one over the socket.
func TestRolloutIntoSlots(t *testing.T) {
	for _, policy := range []string{"random", "first"} {
		c, options := dial(t, start(t, nil).unix), map[string]any{"num_envs": 4, "seed": 3}
		want := result[rollout](t, startGames(t, c, "blockbattle", options), "rollout", 20, map[string]any{"policy": policy})
		slotted := sharingOf(t, startGames(t, c, "blockbattle", options), 20)
		require.NoError(t, slotted.Call("rollout", nil, 12, map[string]any{"policy": policy, "slot": 0}))
		require.NoError(t, slotted.Call("rollout", nil, 8, map[string]any{"policy": policy, "slot": 12}))
		got := rollout{Steps: 20}
		for _, s := range slotted.slots {
			got.Slabs, got.Actions = append(got.Slabs, s.slab...), append(got.Actions, s.actions...)
		}
		require.Equal(t, want, got)
	}
}

func TestSharingIsRefused(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 1 << 20 })
	far := openGames(t, dial(t, p.tcp), "toy:pick", nil)
	require.Equal(t, wire.BadParams, code(t, far.Call("share", nil, 2)), "over TCP")
	g := sharingOf(t, openGames(t, dial(t, p.unix), "toy:pick", nil), 0)
	_, _, err := g.shareFinal()
	require.Equal(t, wire.BadParams, code(t, err), "NextStep has no other observations than its own")
	require.Equal(t, wire.BadParams, code(t, g.Call("share", nil, 0)))
	require.Equal(t, wire.BadParams, code(t, g.Call("share", nil, 1<<20)))
	require.Equal(t, wire.Limit, code(t, g.Call("share", nil, 1000)), "more than max_memory")
	require.Equal(t, wire.BadParams, code(t, g.step(0)), "no slots")
	require.NoError(t, g.share(2))
	rollout := func(options map[string]any) int { return code(t, g.Call("rollout", nil, 2, options)) }
	require.Equal(t, wire.BadParams, code(t, g.step(2)))
	require.Equal(t, wire.NeedsReset, code(t, g.step(1)))
	require.Equal(t, wire.BadParams, code(t, g.Call("reset", nil, map[string]any{"slot": 2})))
	require.Equal(t, wire.BadParams, code(t, g.Call("reset", nil, map[string]any{"slot": -1})))
	require.Equal(t, wire.NeedsReset, rollout(map[string]any{"slot": 0}))
	require.NoError(t, g.Call("reset", nil, map[string]any{"slot": 0}))
	require.Equal(t, wire.BadParams, rollout(map[string]any{"slot": 1}))
	require.Equal(t, wire.BadParams, rollout(map[string]any{"slot": 0, "keep": "last"}))
	require.Equal(t, wire.BadParams, rollout(map[string]any{"policy": "nobody"}))
	require.Zero(t, rollout(map[string]any{"slot": 0}))
}

// TestSharedMemoryCannotShrink shows that a client cannot take memory away under the
// server, and that what it scribbles there is its own loss.
func TestSharedMemoryCannotShrink(t *testing.T) {
	p := start(t, nil)
	conn := greeted(t, p.unix, request(t, "open", "toy:pick", map[string]any{"num_envs": 8, "autoreset": "SameStep"}))
	ask := func(method string, params ...any) int { return asks(t, conn, request(t, method, params...)) }
	_, err := conn.Write(request(t, "share", 1, 4))
	require.NoError(t, err)
	_, fd, err := withFile(conn)
	require.NoError(t, err)
	defer unix.Close(fd)
	var stat unix.Stat_t
	require.NoError(t, unix.Fstat(fd, &stat))
	require.ErrorIs(t, unix.Ftruncate(fd, 0), unix.EPERM)
	require.ErrorIs(t, unix.Ftruncate(fd, stat.Size+1), unix.EPERM)
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE)
	require.ErrorIs(t, err, unix.EPERM)
	memory, err := unix.Mmap(fd, 0, int(stat.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(memory)) }()

	require.Zero(t, ask("reset", 1, map[string]any{"slot": 0}))
	// As another thread of a hostile client would, write while the server works: some writes
	// for each request, so that a single core has time for both sides.
	requests, done := make(chan struct{}, 1), make(chan struct{})
	defer func() { close(requests); <-done }() // before the memory goes, also when the test fails
	go func() {
		defer close(done)
		k := byte(0)
		for range requests {
			for range 8 {
				k++
				copy(memory, bytes.Repeat([]byte{k | 1}, len(memory)))
				_ = unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, stat.Size)
			}
		}
	}()
	for k := range 300 {
		requests <- struct{}{}
		require.Contains(t, []int{0, wire.Illegal}, ask("step_slot", 1, k%4))
		requests <- struct{}{}
		require.Zero(t, ask("final", 1))
		requests <- struct{}{}
		require.Zero(t, ask("rollout", 1, 4, map[string]any{"slot": 0}))
	}
	require.NotContains(t, p.logged(), "panic")
}

// TestStepSlotAllocatesNothing counts both ends of the connection.
func TestStepSlotAllocatesNothing(t *testing.T) {
	options := map[string]any{"num_envs": 32, "packed": true}
	g := sharingOf(t, started(t, "blockbattle", options), 1)
	copy(g.slots[0].actions, none(g.Rows))
	allocatesNothing(t, func() {
		if err := g.step(0); err != nil {
			t.Fatal(err)
		}
	})
}
