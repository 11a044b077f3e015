package server_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"blockyard/rpc/session/limits"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
)

// TestSilentConnectionsKeepNobodyOut opens 64 connections, as many as there may be sessions, that say nothing or only
// ping: clients are served at once, through both listeners, and the oldest of the silent connections make room.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Tokens = []limits.Token{{Secret: "secret"}}
		c.Limits.HelloTimeout = time.Hour
	})
	var silent []net.Conn
	for k := range limits.DefaultLimits().MaxSessions {
		conn := raw(t, p.tcp)
		if k%2 == 1 {
			require.Zero(t, asks(t, conn, request(t, "ping")))
		}
		silent = append(silent, conn)
	}
	for k, address := range []string{p.unix, p.tcp, p.unix, p.tcp} {
		began := time.Now()
		c := dialAs(t, address, "secret")
		require.Less(t, time.Since(began), hangs/4, "client %d", k)
		require.NoError(t, c.Call("stats", nil))
	}
	for k, conn := range silent[:2] {
		wait := hangs
		if k == 1 { // the first TCP client needed room; its hello gave the second client a place
			wait = 100 * time.Millisecond
		}
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(wait)))
		_, err := conn.Read(make([]byte, 1))
		var timeout net.Error
		require.Equal(t, k == 1, errors.As(err, &timeout) && timeout.Timeout(), "silent connection %d: %v", k, err)
	}
}
