//go:build linux

package server_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// shared opens games twice on one server, once with slots.
func shared(t *testing.T, options map[string]any, slots int) (plain *client.Games, slotted *sharing) {
	p := start(t, nil)
	var err error
	plain, err = dial(t, p.unix).Open("blockbattle", options)
	require.NoError(t, err)
	slotted = sharingGames(t, dial(t, p.unix), "blockbattle", options)
	require.NoError(t, slotted.share(slots))
	require.Len(t, slotted.slots, slots)
	return plain, slotted
}

// TestSlotsSayTheSame plays alike through the socket and through slots, in every mode:
// every byte of every slab is the same, and so is what ended games are told by.
func TestSlotsSayTheSame(t *testing.T) {
	for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
		for _, packed := range []bool{false, true} {
			t.Run(fmt.Sprint(mode, packed), func(t *testing.T) {
				plain, slotted := shared(t, map[string]any{
					"num_envs": 6, "autoreset": mode, "seed": 3, "packed": packed, "max_episode_steps": 40,
				}, 3)
				require.NoError(t, plain.CallSlab("reset"))
				require.NoError(t, slotted.Call("reset", nil, map[string]any{"slot": 0}))
				require.Equal(t, plain.Slab, slotted.slots[0].slab)
				var c chooser
				at := 0
				for range 150 {
					before := slotted.slots[at]
					at = (at + 1) % 3
					c.choose(plain.Field("mask"), plain.Rows, slotted.slots[at].actions)
					err, twin := plain.Step(slotted.slots[at].actions), slotted.step(at)
					require.Equal(t, err, twin)
					if err != nil { // Disabled, and games ended
						require.Equal(t, wire.NeedsReset, code(t, err))
						mask := or(plain.Field("terminated"), plain.Field("truncated"))
						require.NoError(t, plain.CallSlab("reset", map[string]any{"mask": mask}))
						require.NoError(t, slotted.Call("reset", nil, map[string]any{"mask": mask, "slot": at}))
					}
					require.Equal(t, plain.Slab, slotted.slots[at].slab)
					require.NotEqual(t, plain.Slab, before.slab)
					var one, two finals
					require.NoError(t, plain.Call("final", &one))
					require.NoError(t, slotted.Call("final", &two))
					require.Equal(t, one, two)
				}
			})
		}
	}
}

// TestFinalSlotsSayTheSame: what a step leaves in the memory of share_final is what final responds.
func TestFinalSlotsSayTheSame(t *testing.T) {
	for _, slots := range []int{0, 2} {
		_, g := shared(t, map[string]any{
			"num_envs": 6, "autoreset": "SameStep", "seed": 3, "max_episode_steps": 40, "opponents": map[int]string{1: "first"},
		}, 2)
		memory, layout, err := g.shareFinal()
		require.NoError(t, err)
		require.NoError(t, g.CallSlab("reset"))
		var c chooser
		actions, ended := make([]byte, 2*g.Rows), 0
		for k := range 150 {
			c.choose(g.Field("mask"), g.Rows, actions)
			if slots > 0 {
				at := k % slots
				copy(g.slots[at].actions, actions)
				require.NoError(t, g.step(at))
				copy(g.Slab, g.slots[at].slab)
			} else {
				require.NoError(t, g.Step(actions))
			}
			ended += sameFinals(t, g.Games, memory, layout)
		}
		require.Positive(t, ended)
	}
	_, g := shared(t, map[string]any{"num_envs": 2}, 1)
	_, _, err := g.shareFinal()
	require.Equal(t, wire.BadParams, code(t, err), "NextStep has no other observations than its own")
}

func or(a, b []byte) []byte {
	out := make([]byte, len(a))
	for i := range a {
		out[i] = a[i] | b[i]
	}
	return out
}

// TestRolloutIntoSlots compares a rollout in slots with one over the socket.
func TestRolloutIntoSlots(t *testing.T) {
	for _, policy := range []string{"random", "first"} {
		plain, slotted := shared(t, map[string]any{"num_envs": 4, "seed": 3}, 20)
		require.NoError(t, plain.CallSlab("reset"))
		require.NoError(t, slotted.CallSlab("reset"))
		var out struct {
			Slabs   []byte `msgpack:"slabs"`
			Actions []byte `msgpack:"actions"`
		}
		require.NoError(t, plain.Call("rollout", &out, 20, map[string]any{"policy": policy}))
		require.NoError(t, slotted.Call("rollout", nil, 12, map[string]any{"policy": policy, "slot": 0}))
		require.NoError(t, slotted.Call("rollout", nil, 8, map[string]any{"policy": policy, "slot": 12}))
		for k, s := range slotted.slots {
			require.Equal(t, out.Slabs[k*plain.Len:(k+1)*plain.Len], s.slab, "step %d", k)
			require.Equal(t, out.Actions[k*2*plain.Rows:(k+1)*2*plain.Rows], s.actions)
		}
	}
}

func TestSharingIsRefused(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 1 << 20 })
	far, err := dial(t, p.tcp).Open("toy:pick", nil)
	require.NoError(t, err)
	require.Equal(t, wire.BadParams, code(t, far.Call("share", nil, 2)), "over TCP")
	g := sharingGames(t, dial(t, p.unix), "toy:pick", nil)
	require.Equal(t, wire.BadParams, code(t, g.Call("share", nil, 0)))
	require.Equal(t, wire.BadParams, code(t, g.Call("share", nil, 1<<20)))
	require.Equal(t, wire.Limit, code(t, g.Call("share", nil, 1000)), "more than max_memory")
	require.Equal(t, wire.BadParams, code(t, g.step(0)), "no slots")
	require.NoError(t, g.share(2))
	require.Equal(t, wire.BadParams, code(t, g.step(2)))
	require.Equal(t, wire.NeedsReset, code(t, g.step(1)))
	require.Equal(t, wire.BadParams, code(t, g.Call("reset", nil, map[string]any{"slot": 2})))
	require.Equal(t, wire.BadParams, code(t, g.Call("reset", nil, map[string]any{"slot": -1})))
	require.Equal(t, wire.NeedsReset, code(t, g.Call("rollout", nil, 2, map[string]any{"slot": 0})))
	require.NoError(t, g.Call("reset", nil, map[string]any{"slot": 0}))
	require.Equal(t, wire.BadParams, code(t, g.Call("rollout", nil, 2, map[string]any{"slot": 1})))
	require.Equal(t, wire.BadParams, code(t, g.Call("rollout", nil, 2, map[string]any{"slot": 0, "keep": "last"})))
	require.Equal(t, wire.BadParams, code(t, g.Call("rollout", nil, 2, map[string]any{"policy": "nobody"})))
	require.NoError(t, g.Call("rollout", nil, 2, map[string]any{"slot": 0}))
}

// memoryFile asks for slots and returns the file that came.
func memoryFile(t testing.TB, conn net.Conn, slots int) int {
	_, err := conn.Write(request(t, "share", 1, slots))
	require.NoError(t, err)
	_, fd, err := withFile(conn)
	require.NoError(t, err)
	require.GreaterOrEqual(t, fd, 0)
	return fd
}

// TestSharedMemoryCannotShrink shows that a client cannot take memory away under the
// server, and that what it scribbles there is its own loss.
func TestSharedMemoryCannotShrink(t *testing.T) {
	p := start(t, nil)
	conn := greeted(t, p.unix, request(t, "open", "toy:pick", map[string]any{"num_envs": 8, "autoreset": "SameStep"}))
	ask := func(method string, params ...any) int { return asks(t, conn, request(t, method, params...)) }
	fd := memoryFile(t, conn, 4)
	defer unix.Close(fd)
	var stat unix.Stat_t
	require.NoError(t, unix.Fstat(fd, &stat))
	require.ErrorIs(t, unix.Ftruncate(fd, 0), unix.EPERM)
	require.ErrorIs(t, unix.Ftruncate(fd, stat.Size+1), unix.EPERM)
	_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE)
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

// TestKilledSharersLeaveNothing ends a thousand clients in the midst of slots.
func TestKilledSharersLeaveNothing(t *testing.T) {
	p := start(t, nil)
	before, mapped := inUse(t), mappings(t)
	for range 1000 {
		conn, err := net.Dial("unix", strings.TrimPrefix(p.unix, "unix:"))
		require.NoError(t, err)
		c := client.New(conn)
		require.NoError(t, c.Call("hello", nil, map[string]any{"proto": []int{3, 0}}))
		g := sharingGames(t, c, "toy:pick", map[string]any{"num_envs": 4})
		require.NoError(t, g.share(3))
		require.NoError(t, g.Call("reset", nil, map[string]any{"slot": 0}))
		rollout := request(t, "rollout", g.H, 1_000_000, map[string]any{"keep": "last"})
		_, err = conn.Write(append(wire.AppendStepSlot(nil, 9, g.H, 1), rollout...))
		require.NoError(t, err)
		require.NoError(t, c.Close())
		g.unmap()
		for p.Counts().Sessions > limits.DefaultLimits().MaxSessions/2 { // those of clients that are gone end in time of their own
			time.Sleep(time.Millisecond)
		}
	}
	settled(t, before)
	require.LessOrEqual(t, mappings(t), mapped)
	stats := struct {
		Handles int `msgpack:"handles"`
		Memory  int `msgpack:"memory"`
	}{-1, -1}
	require.NoError(t, dial(t, p.unix).Call("stats", &stats))
	require.Zero(t, stats.Handles+stats.Memory)
}

// mappings counts the shared memory of this process.
func mappings(t testing.TB) int {
	b, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return strings.Count(string(b), "memfd:blockyard")
}

// TestStepSlotAllocatesNothing counts both ends of the connection.
func TestStepSlotAllocatesNothing(t *testing.T) {
	p := start(t, nil)
	g := sharingGames(t, dial(t, p.unix), "blockbattle", map[string]any{"num_envs": 32, "packed": true})
	require.NoError(t, g.share(1))
	require.NoError(t, g.CallSlab("reset"))
	copy(g.slots[0].actions, bytes.Repeat([]byte{0xff}, 2*g.Rows))
	step := func() {
		if err := g.step(0); err != nil {
			t.Fatal(err)
		}
	}
	allocatesNothing(t, step)
}
