package server_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// greeted is a connection after hello and requests that succeed.
func greeted(t *testing.T, address string, requests ...[]byte) net.Conn {
	t.Helper()
	conn := raw(t, address)
	for _, r := range append([][]byte{hello(t)}, requests...) {
		require.Zero(t, asks(t, conn, r))
	}
	return conn
}

// narrow gives a server little room for requests, and clients that take it little time.
func narrow(c *server.Config) {
	c.Limits.MaxBuffered, c.Limits.MaxMessage, c.Limits.FrameTimeout = 4<<20, 3<<20, 2*time.Second
	c.Limits.MaxSessions = 8
}

// TestRefusedRequestsLeaveNoBuffers sends requests that are as long as they may be and all refused, at once so that
// each gets a buffer. Nothing of them remains counted while the connection stays open, and others can send as much as
// before.
func TestRefusedRequestsLeaveNoBuffers(t *testing.T) {
	for method, params := range map[string][]any{
		"step": {1, make([]byte, 8*100_000)}, "ping": {make([]byte, 60_000)}, "restore": {1, nil, make([]byte, 1<<20)},
	} {
		t.Run(method, func(t *testing.T) {
			p := start(t, func(c *server.Config) { c.Limits.MaxBuffered = 4 << 20 })
			conn := greeted(t, p.unix, request(t, "open", "toy:pick", map[string]any{"num_envs": 50_000}))
			const many = 12
			go func() { _, _ = conn.Write(bytes.Repeat(request(t, method, params...), many)) }()
			for range many {
				require.NotZero(t, answer(t, conn))
			}
			require.Eventually(t, func() bool { return p.Buffered() == 0 }, hangs, time.Millisecond)
			g := startGames(t, dial(t, p.tcp), "toy:pick", map[string]any{"num_envs": 50_000})
			require.NoError(t, g.Step(none(g.Rows)))
			require.Zero(t, asks(t, conn, request(t, "ping")), "the connection is still open")
		})
	}
}

// TestOthersKeepTheirShare has some sessions use up what there is for requests, with requests that never end. A session
// that sends small requests does not notice; one that sends a large request, though a smaller one than theirs, waits until theirs are given up.
func TestOthersKeepTheirShare(t *testing.T) {
	p := start(t, narrow)
	small, large := dial(t, p.unix), dial(t, p.unix)
	openGames(t, large, "toy:pick", nil)
	endless := slices.Concat(hello(t), request(t, "restore", 1, nil, make([]byte, 2<<20)))
	unseen, seen := context.WithCancel(t.Context())
	for range 4 {
		go func() {
			for unseen.Err() == nil { // who is cut off before this test has looked comes again
				if conn, err := net.Dial("unix", strings.TrimPrefix(p.unix, "unix:")); err == nil {
					_, _ = conn.Write(endless[:len(endless)-1])
					_, _ = io.Copy(io.Discard, conn)
					_ = conn.Close()
				}
			}
		}()
	}
	require.Eventually(t, func() bool { return p.Buffered() > 3<<20+1<<18 }, hangs, time.Millisecond)
	seen()
	done := make(chan error, 1)
	go func() { done <- large.Call("restore", nil, 1, nil, make([]byte, 1<<18)) }()
	for waiting := true; waiting; {
		require.Equal(t, wire.BadParams, code(t, small.Call("ping", nil, make([]byte, 50_000))))
		select {
		case err := <-done:
			require.Equal(t, wire.BadParams, code(t, err), "answered, not cut off")
			waiting = false
		case <-time.After(10 * time.Millisecond):
		}
	}
	require.NoError(t, large.Call("ping", nil))
}

// TestLargeRequestsAtOnce has clients send requests that together exceed what there is for them, each only in part at
// first. The server reads them so that they do not wait for each other: all are answered.
func TestLargeRequestsAtOnce(t *testing.T) {
	p := start(t, func(c *server.Config) {
		narrow(c)
		c.Limits.FrameTimeout = hangs
	})
	b := request(t, "restore", 1, nil, make([]byte, 3<<20-100))
	conns := make([]net.Conn, 4)
	for i := range conns {
		conns[i] = greeted(t, p.unix)
		go func() {
			_, _ = conns[i].Write(b[:len(b)/2])
			_, _ = conns[i].Write(b[len(b)/2:])
		}()
	}
	for _, conn := range conns {
		require.Equal(t, wire.BadHandle, answer(t, conn), "answered, not cut off")
	}
}

// TestClosedHandlesLeaveNoBuffers: the memory into which the next request is read may be that of a step. After the
// handle is closed it counts until that request has come, then it is given back.
func TestClosedHandlesLeaveNoBuffers(t *testing.T) {
	p := start(t, nil)
	c, watch := dial(t, p.unix), dial(t, p.tcp)
	for _, end := range []func(g *client.Games){
		func(g *client.Games) {
			require.NoError(t, g.Call("close", nil))
			require.Zero(t, p.Buffered(), "others do not lack it")
			require.NoError(t, c.Call("ping", nil))
		},
		func(*client.Games) { require.NoError(t, c.Close()) },
	} {
		g := startGames(t, c, "toy:pick", map[string]any{"num_envs": 50_000})
		for range 3 {
			require.NoError(t, g.Step(none(g.Rows)))
		}
		end(g)
		require.Eventually(t, func() bool { return memory(t, watch) == 0 }, hangs, time.Millisecond)
	}
}

// TestOnlyTheGreediestIsCut: many clients wait at once for what one holds, whose request waits for its answer. It alone
// loses its connection.
func TestOnlyTheGreediestIsCut(t *testing.T) {
	change, open := gated(func(c *server.Config) {
		narrow(c)
		c.Limits.MaxSessions = 32
	})
	defer close(open)
	p := start(t, change)
	idle := dial(t, p.unix)
	greedy := held(t, p.unix)
	write(t, greedy, request(t, "restore", 1, nil, make([]byte, 3<<20-100)))
	require.Eventually(t, func() bool { return p.Buffered() > 2<<20 }, hangs, time.Millisecond)
	errs := make(chan error, 6)
	for range cap(errs) {
		c := dial(t, p.tcp)
		go func() { errs <- c.Call("restore", nil, 1, nil, make([]byte, 450_000)) }()
	}
	for range cap(errs) {
		require.Equal(t, wire.BadHandle, code(t, <-errs), "answered, not cut off")
	}
	require.NoError(t, idle.Call("ping", nil))
	require.Equal(t, wire.TooLarge, answer(t, greedy))
}

// Clients that read no response, each half of what there is for responses, keep nobody else's from being sent.
func TestDeafClientsHoldNoReplies(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxReply, c.Limits.MaxReplies = 2<<20, 4<<20 })
	options := map[string]any{"num_envs": 16}
	g := startGames(t, dial(t, p.unix), "blockbattle", options)
	steps := (2<<20 - 4096) / (g.Len + 2*32)
	for range 3 {
		write(t, greeted(t, p.unix, request(t, "open", "blockbattle", options), request(t, "reset", 1)), request(t, "rollout", 1, steps))
	}
	require.Eventually(t, func() bool { return p.Counts().ReplyMemory > 3<<20 }, hangs, time.Millisecond) // of two of them
	require.NoError(t, g.Call("rollout", nil, steps))
}
