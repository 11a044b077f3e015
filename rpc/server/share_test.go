//go:build linux

package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/env/envtest/toy"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
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
	write(t, conn, request(t, "share", 1, 4))
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

// A sharing is games that share memory with the server, over a unix socket.
type sharing struct {
	*client.Games
	slots  []slot
	mapped [][]byte
	ask    []byte // a request
	answer [wire.DoneLen]byte
}

// A slot is memory for the actions and the result of one step.
type slot struct{ slab, actions []byte }

// sharingOf returns games that share so many slots. What they share is unmapped at the end of the test.
func sharingOf(t testing.TB, g *client.Games, slots int) *sharing {
	s := &sharing{Games: g}
	t.Cleanup(s.unmap)
	if slots > 0 {
		require.NoError(t, s.share(slots))
		require.Len(t, s.slots, slots)
	}
	return s
}

func (g *sharing) unmap() {
	for _, memory := range g.mapped {
		_ = unix.Munmap(memory)
	}
	g.mapped, g.slots = nil, nil
}

// share adds slots.
func (g *sharing) share(slots int) error {
	var layout struct {
		Stride  int `msgpack:"stride"`
		Actions int `msgpack:"actions"`
		Len     int `msgpack:"len"`
	}
	memory, err := g.callForMemory("share", &layout, &layout.Len, slots)
	if err != nil {
		return err
	}
	for at := 0; at < layout.Len; at += layout.Stride {
		one := memory[at : at+layout.Stride]
		g.slots = append(g.slots, slot{one[:g.Len], one[layout.Actions : layout.Actions+2*g.Rows]})
	}
	return nil
}

// shareFinal returns memory to which the server writes the last observations of the games that a step ended, and its
// fields.
func (g *sharing) shareFinal() ([]byte, []client.Field, error) {
	var answer struct {
		Layout []client.Field `msgpack:"layout"`
		Len    int            `msgpack:"len"`
	}
	memory, err := g.callForMemory("share_final", &answer, &answer.Len)
	return memory, answer.Layout, err
}

// step plays the actions in slot k. It allocates nothing.
func (g *sharing) step(k int) error {
	conn := g.Client().Conn()
	g.ask = wire.AppendStepSlot(g.ask[:0], 1, g.H, uint32(k))
	if _, err := conn.Write(g.ask); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, g.answer[:]); err != nil {
		return err
	}
	if g.answer[7] == 0xc0 {
		return nil
	}
	_, failure, err := wire.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(g.answer[:]), conn)), nil)
	if failure != nil {
		return failure
	}
	return err
}

// callForMemory calls a method whose response carries a file of size bytes, which is decoded with it, and maps that.
func (g *sharing) callForMemory(method string, into any, size *int, params ...any) ([]byte, error) {
	ask, err := wire.AppendRequest(nil, 1, method, append([]any{g.H}, params...)...)
	if err != nil {
		return nil, err
	}
	conn := g.Client().Conn()
	if _, err := conn.Write(ask); err != nil {
		return nil, err
	}
	message, fd, err := withFile(conn)
	if err != nil {
		return nil, err
	}
	_, failure, err := wire.ReadResponse(bufio.NewReader(bytes.NewReader(message)), into)
	switch {
	case failure != nil:
		return nil, failure
	case err != nil:
		return nil, err
	case fd < 0:
		return nil, fmt.Errorf("%s: the response carries no file descriptor", method)
	}
	defer unix.Close(fd)
	memory, err := unix.Mmap(fd, 0, *size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	g.mapped = append(g.mapped, memory)
	return memory, err
}

// withFile reads a response and returns the file descriptor that comes with it, -1 for none.
func withFile(conn net.Conn) (message []byte, fd int, err error) {
	for fd = -1; !whole(message); {
		part, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
		n, oobn, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(part, oob)
		if err != nil {
			return message, fd, err
		}
		message = append(message, part[:n]...)
		controls, _ := unix.ParseSocketControlMessage(oob[:oobn])
		for i := range controls {
			if fds, err := unix.ParseUnixRights(&controls[i]); err == nil {
				fd = fds[0]
			}
		}
	}
	return message, fd, nil
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
		return in(steps%3, func() error { return s.step(steps % 3) })
	}
	if finals {
		var err error
		w.final, w.layout, err = s.shareFinal()
		require.NoError(t, err)
	}
	return w
}

// FuzzSlots asks about slots in any order and with any numbers, as they are and with
// bytes changed: every request is answered, or the connection ends, and the server goes on.
func FuzzSlots(f *testing.F) {
	p := start(f, func(c *server.Config) { c.Limits.MaxMemory = 8 << 20 })
	f.Add([]byte{0, 2, 0, 2, 0, 0, 1, 1, 0, 3, 0, 0, 4, 0, 0})
	f.Add([]byte{0, 1, 0, 0, 255, 0, 1, 255, 255, 2, 9, 0, 3, 1, 1, 5, 0, 0, 1, 0, 0})
	f.Add([]byte{0, 3, 0, 6, 12, 99, 1, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		conn := raw(t, p.unix)
		defer conn.Close()
		write(t, conn, append(hello(t), request(t, "open", toy.Pick.Name, map[string]any{"num_envs": 3})...))
		readMessage(t, conn)
		readMessage(t, conn)
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
	var ask []byte
	slot := map[string]any{"slot": a}
	switch op % 7 {
	case 0:
		ask = request(t, "share", 1, a)
	case 1:
		ask = wire.AppendStepSlot(nil, 7, 1, uint32(a))
	case 2:
		ask = request(t, "reset", 1, slot)
	case 3:
		ask = request(t, "rollout", 1, b%16, slot)
	case 4:
		ask = request(t, "clone", 1, u32(0), u32(1), slot)
	case 5:
		ask = request(t, "close", 1)
	case 6: // a byte of a request changed
		ask = wire.AppendStepSlot(nil, 7, 1, 0)
		ask[(a&0xff)%len(ask)] = byte(b)
	}
	_, err := conn.Write(ask)
	if err != nil {
		return false
	}
	if err := conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		return false
	}
	_, err = nextMessage(conn)
	return err == nil // it goes on, and does not wait for the rest of what now is another message
}
