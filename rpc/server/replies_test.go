package server_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
)

// deaf opens games and asks for a response that fills half of what there is for responses, and reads nothing.
func deaf(t *testing.T, p *place, steps int) net.Conn {
	t.Helper()
	conn := greeted(t, p.unix, request(t, "open", "blockbattle", map[string]any{"num_envs": 16}), request(t, "reset", 1))
	_, err := conn.Write(request(t, "rollout", 1, steps))
	require.NoError(t, err)
	return conn
}

// Clients that read no response, and come again when they have lost their connection, keep nobody else's from being
// sent.
func TestDeafClientsHoldNoReplies(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxReply, c.Limits.MaxReplies = 2<<20, 4<<20 })
	g := startGames(t, dial(t, p.unix), "blockbattle", map[string]any{"num_envs": 16})
	steps := (2<<20 - 4096) / (g.Len + 2*32)
	for range 3 {
		var all []net.Conn
		for range 3 {
			all = append(all, deaf(t, p, steps))
		}
		require.Eventually(t, func() bool { return p.Counts().ReplyMemory > 3<<20 }, hangs, time.Millisecond) // by two of them
		for range 2 {
			require.NoError(t, g.Call("rollout", nil, steps))
		}
		ended := 0
		for _, conn := range all {
			if n, _ := io.Copy(io.Discard, io.LimitReader(conn, 3<<19)); n < 3<<19 {
				ended++
			}
			require.NoError(t, conn.Close())
		}
		require.NotZero(t, ended)
	}
}
