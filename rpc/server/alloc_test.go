package server_test

import (
	"io"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

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
	return exchanging(t, g.Client(), request(t, "step", g.H, none(g.Rows)), wire.HeadLen+g.Len)
}

// TestStepAllocatesNothing counts both ends of the connection, once buffers have grown to their size.
func TestStepAllocatesNothing(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Games, c.Features = append(c.Games, games.All...), bots.Features })
	options := map[string]any{"num_envs": 32}
	recording := openGames(t, dial(t, p.unix), "blockbattle", options)
	recordOne(t, recording, 1<<40)

	stream := startGames(t, dial(t, p.unix), "toy:pick", map[string]any{"num_envs": 4, "opponents": map[int]string{1: "first"}})
	both := append(request(t, "send", stream.H, u32(0, 1, 2, 3), none(4)), request(t, "recv", stream.H, 4, 4, 1000)...)
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
	t.Helper()
	for range 50 {
		step()
	}
	require.Less(t, testing.AllocsPerRun(200, step), 0.5)
}
