package server_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// allocatesNothing steps until buffers have grown to their size, and counts the allocations of further steps.
func allocatesNothing(t *testing.T, step func()) {
	t.Helper()
	for range 50 {
		step()
	}
	require.Less(t, testing.AllocsPerRun(200, step), 0.5)
}

// quick returns what steps games, whose seats make no move, without an allocation of the client.
func quick(t testing.TB, g *client.Games) (step func()) {
	ask := request(t, "step", g.H, bytes.Repeat([]byte{0xff}, 2*g.Rows))
	conn, answer := g.Client().Conn(), make([]byte, wire.HeadLen+g.Len)
	return func() {
		if _, err := conn.Write(ask); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, answer); err != nil || answer[7] != 0xc0 {
			t.Fatalf("%v, %.80q", err, answer)
		}
	}
}

// TestStepAllocatesNothing counts both ends of the connection.
func TestStepAllocatesNothing(t *testing.T) {
	p := start(t, nil)
	for _, address := range []string{p.unix, p.tcp} {
		c := dial(t, address)
		g, err := c.Open("blockbattle", map[string]any{"num_envs": 32})
		require.NoError(t, err)
		require.NoError(t, g.CallSlab("reset"))
		allocatesNothing(t, quick(t, g))
	}
}
