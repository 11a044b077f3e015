//go:build linux

package server_test

import (
	"bufio"
	"bytes"
	"errors"
	"maps"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/rpc/server"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

func TestRolloutIntoSlots(t *testing.T) {
	for _, policy := range []string{"random", "first"} {
		c, options := dial(t, start(t, nil).unix), map[string]any{"num_envs": 4, "seed": 3}
		want := ask(t, startGames(t, c, "blockbattle", options), "rollout", 20, map[string]any{"policy": policy})
		slotted := sharingOf(t, startGames(t, c, "blockbattle", options), 20)
		require.NoError(t, slotted.Call("rollout", nil, 12, map[string]any{"policy": policy, "slot": 0}))
		require.NoError(t, slotted.Call("rollout", nil, 8, map[string]any{"policy": policy, "slot": 12}))
		got := fields{"steps": 20}
		for _, s := range slotted.slots {
			got["slabs"], got["actions"] = append(got.bytes("slabs"), s.slab...), append(got.bytes("actions"), s.actions...)
		}
		require.Equal(t, want, got)
	}
}

func TestSharingIsRefused(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 1 << 20 })
	require.Equal(t, wire.BadParams, code(t, openGames(dial(t, p.tcp), "toy:pick", nil).Call("share", nil, 2)), "over TCP")
	g := sharingOf(t, openGames(dial(t, p.unix), "toy:pick", nil), 0)
	require.Equal(t, wire.BadParams, code(t, g.Call("share_final", nil)), "NextStep has no other observations than its own")
	require.Equal(t, wire.Limit, code(t, g.Call("share", nil, 1000)), "more than max_memory")
	require.Equal(t, wire.BadParams, code(t, g.Call("step_slot", nil, 0)), "no slots")
	require.NoError(t, g.share(2))
	slot := func(k int) []any { return []any{map[string]any{"slot": k}} }
	refuses(t, g, wire.BadParams, map[string][][]any{
		"share": {{0}, {1 << 20}}, "step_slot": {{2}, {-1}}, "reset": {slot(2), slot(-1)}})
	refuses(t, g, wire.NeedsReset, map[string][][]any{"step_slot": {{1}}, "rollout": {append([]any{2}, slot(0)...)}})
	require.NoError(t, g.Call("reset", nil, slot(0)...))
	refuses(t, g, wire.BadParams, map[string][][]any{"rollout": {append([]any{2}, slot(1)...),
		{2, map[string]any{"slot": 0, "keep": "last"}}, {2, map[string]any{"policy": "nobody"}}}})
	require.NoError(t, g.Call("rollout", nil, append([]any{2}, slot(0)...)...))
}

// TestSharedMemoryCannotShrink shows that a client cannot take memory away under the
// server, and that what it scribbles there is its own loss.
func TestSharedMemoryCannotShrink(t *testing.T) {
	p := start(t, nil)
	conn := greeted(t, p.unix, request("open", "toy:pick", map[string]any{"num_envs": 8, "autoreset": "SameStep"}))
	requests, done := make(chan struct{}, 1), make(chan struct{})
	ask := func(method string, params ...any) int {
		requests <- struct{}{}
		return asks(t, conn, request(method, params...))
	}
	write(conn, request("share", 1, 4))
	_, fd := withFile(t, conn)
	defer unix.Close(fd)
	var stat unix.Stat_t
	require.NoError(t, unix.Fstat(fd, &stat))
	require.ErrorIs(t, unix.Ftruncate(fd, 0), unix.EPERM)
	require.ErrorIs(t, unix.Ftruncate(fd, stat.Size+1), unix.EPERM)
	require.ErrorIs(t, envtest.Failed(unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE)), unix.EPERM)
	memory := envtest.Must(unix.Mmap(fd, 0, int(stat.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED))
	defer func() { require.NoError(t, unix.Munmap(memory)) }()

	// As another thread of a hostile client would, write while the server works: some writes
	// for each request, so that a single core has time for both sides.
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
	require.Zero(t, ask("reset", 1, map[string]any{"slot": 0}))
	for k := range 100 {
		require.Contains(t, []int{0, wire.Illegal}, ask("step_slot", 1, k%4))
		require.Zero(t, ask("final", 1))
		require.Zero(t, ask("rollout", 1, 4, map[string]any{"slot": 0}))
	}
	require.NotContains(t, p.logged(), "panic")
}

func TestStepSlotAllocatesNothing(t *testing.T) {
	g := sharingOf(t, started(t, "blockbattle", map[string]any{"num_envs": 32, "packed": true}), 1)
	copy(g.slots[0].actions, none(g.Rows))
	allocatesNothing(t, exchanging(t, g.Client(), wire.AppendStepSlot(nil, 1, g.H, 0), wire.DoneLen))
}

// A sharing is games that share memory with the server, over a unix socket.
type sharing struct {
	*client.Games
	t      testing.TB
	slots  []slot
	mapped [][]byte
}

// A slot is memory for the actions and the result of one step.
type slot struct{ slab, actions []byte }

// sharingOf returns games that share so many slots. What they share is unmapped at the end of the test.
func sharingOf(t testing.TB, g *client.Games, slots int) *sharing {
	s := &sharing{Games: g, t: t}
	t.Cleanup(func() {
		for _, memory := range s.mapped {
			_ = unix.Munmap(memory)
		}
	})
	if slots > 0 {
		require.NoError(t, s.share(slots))
		require.Len(t, s.slots, slots)
	}
	return s
}

// share adds slots.
func (g *sharing) share(slots int) error {
	memory, layout, err := g.callForMemory("share", slots)
	if err != nil {
		return err
	}
	for one := range slices.Chunk(memory, layout.Stride) {
		g.slots = append(g.slots, slot{one[:g.Len], one[layout.Actions : layout.Actions+2*g.Rows]})
	}
	return nil
}

// callForMemory calls a method whose response carries a file, and maps that.
func (g *sharing) callForMemory(method string, params ...any) (memory []byte, facts shared, err error) {
	conn := g.Client().Conn()
	write(conn, request(method, append([]any{g.H}, params...)...))
	message, fd := withFile(g.t, conn)
	_, failure, err := wire.ReadResponse(bufio.NewReader(bytes.NewReader(message)), &facts)
	require.NoError(g.t, err)
	if failure != nil {
		return nil, facts, failure
	}
	defer unix.Close(fd)
	memory = envtest.Must(unix.Mmap(fd, 0, facts.Len, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED))
	g.mapped = append(g.mapped, memory)
	return memory, facts, nil
}

// withFile reads a response and returns the file descriptor that comes with it, -1 for none.
func withFile(t testing.TB, conn net.Conn) (message []byte, fd int) {
	for fd = -1; !whole(message); {
		part, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
		n, oobn, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(part, oob)
		require.NoError(t, err)
		message = append(message, part[:n]...)
		controls, _ := unix.ParseSocketControlMessage(oob[:oobn])
		for i := range controls {
			if fds, err := unix.ParseUnixRights(&controls[i]); err == nil {
				fd = fds[0]
			}
		}
	}
	return message, fd
}

// sharedSlab lets games share one slot and returns its slab.
func sharedSlab(t *testing.T, g *client.Games) []byte { return sharingOf(t, g, 1).slots[0].slab }

// overSlots resets and steps in slots, one after the other, and now and then over the socket. Other slots stay as they
// are. With finals, the last observations of games are in shared memory.
func overSlots(t *testing.T, g *client.Games, finals bool) *way {
	s, steps := sharingOf(t, g, 3), 0
	g.Slab = make([]byte, g.Len)
	in := func(slot int, do func() error) error {
		other := s.slots[(slot+2)%3].slab
		before := bytes.Clone(other)
		err := do()
		if err == nil {
			copy(g.Slab, s.slots[slot].slab)
		}
		require.Equal(t, before, other)
		return err
	}
	w := &way{Games: g}
	w.reset = func(options map[string]any) error {
		options = maps.Clone(options)
		options["slot"] = 0
		return in(0, func() error { return g.Call("reset", nil, options) })
	}
	w.step = func(actions []byte) error {
		if steps++; steps%4 == 0 {
			return g.Step(actions)
		}
		copy(s.slots[steps%3].actions, actions)
		return in(steps%3, func() error { return g.Call("step_slot", nil, steps%3) })
	}
	if finals {
		memory, facts := envtest.Must2(s.callForMemory("share_final"))
		w.final, w.layout = memory, facts.Layout
	}
	return w
}

// unused waits until clients use nothing but these connections and mappings.
func unused(t *testing.T, p *place, sessions, mapped int) {
	require.Eventually(t, func() bool {
		mappings, files, goroutines, timers := p.Use()
		return mappings == mapped && files == sessions && goroutines == 2*sessions && timers == 2*sessions
	}, hangs, 10*time.Millisecond)
}

// TestManyMappings: the kernel allows a process so many mappings, and the Go runtime ends it when it gets none. Each
// counts once, and is given back with its handle or its connection.
func TestManyMappings(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMappings = 3 })
	c := dial(t, p.unix)
	before := inUse().mappings
	g := sharingOf(t, openGames(c, "toy:pick", map[string]any{"autoreset": "SameStep"}), 2)
	envtest.Must2(g.callForMemory("share_final"))
	require.NoError(t, g.share(1))
	limited(t, g.Call("share", nil, 1), wire.Limit, "max_mappings", 3)
	require.Equal(t, before+2*3, inUse().mappings, "here and in the server")
	require.Less(t, limits.DefaultLimits().MaxMappings, 65530/2, "far from what the kernel allows by default")
	require.NoError(t, g.Call("close", nil))
	unused(t, p, 1, 0)
	sharingOf(t, openGames(c, "toy:pick", nil), 1)
	require.NoError(t, c.Close())
	unused(t, p, 0, 0)
}

func TestGoroutinesAndTimersAreLimited(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Workers = 4
		c.Limits.MaxGoroutines, c.Limits.MaxTimers = 29, 6
	})
	c, options := dial(t, p.unix), map[string]any{"num_envs": 8}
	send := func(g *client.Games) error { return g.Call("send", nil, u32(), []byte{}) }
	for range 3 { // 2 for the session, 3 more workers of each handle; 4 workers and a timer of each stream
		require.NoError(t, send(startGames(t, c, "toy:pick", options)))
	}
	_, _, goroutines, timers := p.Use()
	require.Equal(t, []int{2 + 3*(3+4), 2 + 3}, []int{goroutines, timers})
	fourth, fifth := startGames(t, c, "toy:pick", options), openGames(c, "toy:pick", options)
	limited(t, send(fourth), wire.Limit, "max_goroutines", 29)
	limited(t, envtest.Failed(c.Open("toy:pick", options)), wire.Limit, "max_goroutines", 29)
	require.NoError(t, fifth.Call("close", nil))
	require.NoError(t, fourth.Call("close", nil))
	// One game each, stepped by the goroutine that answers.
	require.NoError(t, send(startGames(t, c, "toy:pick", nil)))
	limited(t, send(startGames(t, c, "toy:pick", nil)), wire.Limit, "max_timers", 6)
	require.NoError(t, c.Close())
	unused(t, p, 0, 0)
}

func TestFilesAreLimited(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxFiles = 2 })
	g := sharingOf(t, openGames(dial(t, p.unix), "toy:pick", nil), 1) // a mapping takes a file only while it is sent
	unused(t, p, 1, 1)                                                // until then the client may already have its answer
	b := dial(t, p.tcp)
	limited(t, g.Call("share", nil, 1), wire.Limit, "max_files", 2)
	limited(t, envtest.Failed(client.Dial(t.Context(), p.unix, "", nil)), wire.Limit, "max_files", 2)
	require.NoError(t, b.Close())
	require.Eventually(t, func() bool { return g.Call("share", nil, 1) == nil }, hangs, 10*time.Millisecond)
}

// FuzzSlots asks about slots in any order and with any numbers, as they are and with
// bytes changed: every request is answered, or the connection ends, and the server goes on.
func FuzzSlots(f *testing.F) {
	p := start(f, func(c *server.Config) { c.Limits.MaxMemory = 8 << 20 })
	f.Add([]byte{0, 2, 0, 2, 0, 0, 1, 1, 0, 3, 0, 0, 4, 0, 0})
	f.Add([]byte{0, 1, 0, 0, 255, 0, 1, 255, 255, 2, 9, 0, 3, 1, 1, 5, 0, 0, 1, 0, 0})
	f.Add([]byte{0, 3, 0, 6, 12, 99, 1, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		conn := envtest.Closing(t, raw(t, p.unix))
		write(conn, append(hello(), request("open", toy.Pick.Name, map[string]any{"num_envs": 3})...))
		readMessage(conn)
		readMessage(conn)
		script = script[:min(len(script), 90)]
		for ; len(script) >= 3; script = script[3:] {
			if !asked(t, conn, script[0], int(int8(script[1])), int(script[2])) {
				break
			}
		}
		require.NoError(t, dial(t, p.unix).Call("ping", nil))
		require.NotContains(t, p.logged(), "panic")
	})
}

// asked makes one request and reports whether it was answered.
func asked(t *testing.T, conn net.Conn, op byte, a, b int) bool {
	slot, changed := map[string]any{"slot": a}, wire.AppendStepSlot(nil, 7, 1, 0)
	changed[(a&0xff)%len(changed)] = byte(b)
	err := envtest.Failed(conn.Write([][]byte{
		request("share", 1, a), wire.AppendStepSlot(nil, 7, 1, uint32(a)), request("reset", 1, slot),
		request("rollout", 1, b%16, slot), request("clone", 1, u32(0), u32(1), slot), request("close", 1), changed,
	}[op%7]))
	err = errors.Join(err, conn.SetReadDeadline(time.Now().Add(300*time.Millisecond)))
	// It goes on, and does not wait for the rest of what now is another message.
	return err == nil && envtest.Failed(nextMessage(conn)) == nil
}
