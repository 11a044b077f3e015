package server_test

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// local is a client of a server in this process that has said hello.
func local(t testing.TB, p *place) *client.Client {
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
	p := start(t, nil)
	c := local(t, p)
	g := openGames(c, "blockbattle", map[string]any{"illegal": "error", "opponents": map[int]string{1: "first"}})
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
	require.NoError(t, g.Call("close", nil))
	require.Equal(t, wire.BadHandle, code(t, step(0)))
	require.Equal(t, wire.UnknownMethod, code(t, c.Call("no such", nil)))
	require.NoError(t, c.Call("ping", nil))

	l := p.Local()
	require.Error(t, envtest.Failed(l.Write([]byte("no message"))))
	answered := make([]byte, 1000)
	n := envtest.Must(l.Read(answered))
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
		ping := envtest.Must(wire.AppendRequest(nil, id, "ping"))
		requests = append(append(requests, ping...), "\x93\x02\xa4ping\x90"...)
	}
	for range 2 {
		envtest.Must(l.Write(requests))
		answers := bufio.NewReader(l)
		for id := range uint32(300) {
			got, failure, err := wire.ReadResponse(answers, nil)
			require.NoError(t, err)
			require.Nil(t, failure)
			require.Equal(t, id, got)
		}
		require.ErrorIs(t, envtest.Failed(answers.ReadByte()), io.EOF)
	}
	require.Zero(t, envtest.Must(l.Write(nil)), "nothing is no request")
	require.Error(t, envtest.Failed(l.Write(requests[:3])), "a part of a request ends the session")
}

// TestLocalAtOnce uses a connection, and several, from many goroutines.
func TestLocalAtOnce(t *testing.T) {
	p := start(t, nil)
	shared := p.Local()
	defer shared.Close()
	ping := request("ping")
	var all sync.WaitGroup
	for range 8 {
		w := overMemory(t, startGames(t, local(t, p), "toy:pick", nil), false)
		all.Go(func() {
			for range 50 {
				_, err := shared.Write(ping)
				if err := errors.Join(err, w.step(none(w.Rows))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// exchanging returns what sends a request and reads a response of so many bytes, without an allocation of the client.
func exchanging(t testing.TB, c *client.Client, ask []byte, size int) (step func()) {
	answer := make([]byte, size)
	return func() {
		if _, err := c.Conn().Write(ask); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c.Conn(), answer); err != nil || answer[7] != 0xc0 {
			t.Fatalf("%v, %.80q", err, answer)
		}
	}
}

// quick steps games, whose seats make no move.
func quick(t testing.TB, g *client.Games) (step func()) {
	return exchanging(t, g.Client(), request("step", g.H, none(g.Rows)), wire.HeadLen+g.Len)
}

// TestStepAllocatesNothing counts both ends of the connection, once buffers have grown to their size.
func TestStepAllocatesNothing(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Games, c.Features = append(c.Games, games.All...), bots.Features })
	options := map[string]any{"num_envs": 32}
	recording := openGames(dial(t, p.unix), "blockbattle", options)
	recordOne(t, recording, 1<<40)

	stream := startGames(t, dial(t, p.unix), "toy:pick", map[string]any{"num_envs": 4, "opponents": map[int]string{1: "first"}})
	both := append(request("send", stream.H, u32(0, 1, 2, 3), none(4)), request("recv", stream.H, 4, 4, 1000)...)
	size := wire.DoneLen + len(wire.AppendReceived(nil, 77, make([]byte, 16), stream.Len)) + stream.Len

	here, k := startGames(t, local(t, p), "toy:pick", options), 0
	memory, actions := make([]uint64, here.Len/8+1<<15), none(here.Rows)
	anywhere := func() {
		if err := here.StepAt(unsafe.Pointer(&actions[0]), unsafe.Pointer(&memory[k])); err != nil {
			t.Fatal(err)
		}
	}
	for ; k < 1<<15-1; k++ { // what the server knows of memory has bounds, however often the client takes other
		anywhere()
	}

	steps := map[string]func(){
		"unix":      quick(t, startGames(t, dial(t, p.unix), "blockbattle", options)),
		"tcp":       quick(t, startGames(t, dial(t, p.tcp), "blockbattle", options)),
		"recording": quick(t, recording),
		"stream":    exchanging(t, stream.Client(), both, size),
		"local":     anywhere,
	}
	for _, game := range games.All {
		if bots.Features(game) != nil {
			steps["candidates of "+game.Name] = quick(t, candidates(t, dial(t, p.unix), game.Name, 8))
		}
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) { allocatesNothing(t, step) })
	}
}

// allocatesNothing takes some steps until buffers have grown to their size, and counts the allocations of more.
func allocatesNothing(t *testing.T, step func()) {
	for range 50 {
		step()
	}
	require.Less(t, testing.AllocsPerRun(200, step), 0.5)
}
