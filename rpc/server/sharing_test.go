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

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

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
