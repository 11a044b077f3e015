package server_test

import (
	"bufio"
	"io"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// local is a client of a server in this process that has said hello.
func local(t testing.TB, p *place) *client.Client {
	t.Helper()
	c := client.New(p.Local())
	require.NoError(t, c.Hello(""))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// The facts of memory that is shared.
type shared struct {
	Layout  []client.Field `msgpack:"layout"`
	Len     int            `msgpack:"len"`
	At      uint64         `msgpack:"at"`      // in this process
	Stride  int            `msgpack:"stride"`  // of slots
	Actions int            `msgpack:"actions"` // where they begin in a slot
}

// overMemory steps games in this process to memory that changes with every step and holds anything but zeros. With
// finals, the last observations of games are where the server keeps them.
func overMemory(t testing.TB, g *client.Games, finals bool) *way {
	const most = 4
	memory, k := make([]uint64, most*(g.Len+7)/8+8), 0
	for i := range memory {
		memory[i] = 0xaaaaaaaaaaaaaaaa
	}
	w := &way{Games: g, reset: g.Reset, step: func(actions []byte) error {
		k++
		slab := unsafe.Slice((*byte)(unsafe.Pointer(&memory[k%most*(g.Len/8)])), g.Len)
		if err := g.StepAt(unsafe.Pointer(&actions[0]), unsafe.Pointer(&slab[0])); err != nil {
			return err
		}
		for _, f := range g.Layout { // without the gaps between the fields
			copy(g.Slab[f.Off:f.Off+f.Len], slab[f.Off:])
		}
		return nil
	}}
	if finals {
		facts := result[shared](t, g, "share_final")
		w.layout, w.final = facts.Layout, unsafe.Slice(*(**byte)(unsafe.Pointer(&facts.At)), facts.Len)
	}
	return w
}

// TestLocalRefuses: whatever is wrong with a step or a request is an error, and the connection goes on.
func TestLocalRefuses(t *testing.T) {
	p := start(t, func(c *server.Config) { addAgent(c, "panics", playing(panics)) })
	c := local(t, p)
	g := openGames(t, c, "blockbattle", map[string]any{"illegal": "error", "opponents": map[int]string{1: "first"}})
	require.Equal(t, wire.BadParams, code(t, g.Call("share_final", nil)), "NextStep has no other observations than its own")
	memory, actions := make([]uint64, g.Len/8+2), []byte{0xf0, 0xf0}
	step := func(offset uintptr) error {
		return g.StepAt(unsafe.Pointer(&actions[0]), unsafe.Add(unsafe.Pointer(&memory[0]), offset))
	}
	require.Equal(t, wire.NeedsReset, code(t, step(0)))
	require.NoError(t, g.Reset(nil))
	require.Equal(t, wire.Illegal, code(t, step(0)))
	require.ErrorContains(t, step(1), "aligned to 8 bytes")
	require.ErrorContains(t, g.StepAt(unsafe.Pointer(&actions[0]), nil), "aligned to 8 bytes")
	require.ErrorContains(t, g.StepAt(nil, unsafe.Pointer(&memory[0])), "NULL")
	require.NoError(t, g.Call("set_opponents", nil, map[int]string{1: "panics"}))
	require.NoError(t, g.Reset(nil))
	actions = new(chooser).of(g)
	require.Equal(t, wire.Internal, code(t, step(0)))
	require.Contains(t, p.logged(), "panic_test.go", "the log has the stack")
	require.NoError(t, g.Reset(nil))
	require.NoError(t, g.Call("close", nil))
	require.Equal(t, wire.BadHandle, code(t, step(0)))
	require.Equal(t, wire.UnknownMethod, code(t, c.Call("no such", nil)))
	require.NoError(t, c.Call("ping", nil))

	l := p.Local()
	_, err := l.Write([]byte("no message"))
	require.Error(t, err)
	answered := make([]byte, 1000)
	n, err := l.Read(answered)
	require.NoError(t, err)
	require.Contains(t, string(answered[:n]), "want an array", "the answer says why the session ended")
	require.False(t, l.Step(1, unsafe.Pointer(&actions[0]), unsafe.Pointer(&memory[0])))
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
}

// TestLocalAnswersWholeRequests: several in one write are answered in order, and notifications are not, as over a socket.
func TestLocalAnswersWholeRequests(t *testing.T) {
	l := start(t, nil).Local()
	defer l.Close()
	var requests []byte
	for id := range uint32(300) { // more than is read at once
		ping, err := wire.AppendRequest(nil, id, "ping")
		require.NoError(t, err)
		requests = append(append(requests, ping...), "\x93\x02\xa4ping\x90"...)
	}
	for range 2 {
		_, err := l.Write(requests)
		require.NoError(t, err)
		answers := bufio.NewReader(l)
		for id := range uint32(300) {
			got, failure, err := wire.ReadResponse(answers, nil)
			require.NoError(t, err)
			require.Nil(t, failure)
			require.Equal(t, id, got)
		}
		_, err = answers.ReadByte()
		require.ErrorIs(t, err, io.EOF)
	}
	n, err := l.Write(nil)
	require.NoError(t, err, "nothing is no request")
	require.Zero(t, n)
	_, err = l.Write(requests[:3])
	require.Error(t, err, "a part of a request ends the session")
}

// TestLocalAtOnce uses a connection, and several, from many goroutines.
func TestLocalAtOnce(t *testing.T) {
	p := start(t, nil)
	shared := p.Local()
	defer shared.Close()
	ping := request(t, "ping")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if _, err := shared.Write(ping); err != nil {
					t.Error(err)
				}
			}
		})
		w := overMemory(t, startGames(t, local(t, p), "toy:pick", nil), false)
		all.Go(func() {
			for range 50 {
				if err := w.step(none(w.Rows)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}
