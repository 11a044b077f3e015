package server_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
	"blockyard/rpc/server"
	"blockyard/rpc/server/listen"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// limited asserts that err is about this limit and tells its value and how to raise it.
func limited(t *testing.T, err error, code int, limit string, value any) *wire.Error {
	var refusal *wire.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, []any{code, limit}, []any{refusal.Code, refusal.Data["limit"]}, refusal.Msg)
	require.EqualValues(t, value, refusal.Data["value"])
	require.Contains(t, refusal.Msg, limit)
	raise := "--max-"
	if refusal.Data["token"] != nil {
		raise = "raise " + limit + " in its line of --token-file"
	}
	require.Contains(t, refusal.Msg, raise)
	return refusal
}

// As many clients as there may be sessions come at the same moment: all are admitted, and no other one.
func TestSessionLimit(t *testing.T) {
	const most = 48
	p := start(t, func(c *server.Config) { c.Limits.MaxSessions = most })
	var all sync.WaitGroup
	clients := make([]*client.Client, most)
	for k := range clients {
		all.Go(func() { clients[k] = envtest.Must(client.Dial(context.Background(), p.tcp, "", nil)) })
	}
	all.Wait()
	for _, address := range []string{p.unix, p.tcp} {
		limited(t, envtest.Failed(client.Dial(context.Background(), address, "", nil)), wire.Limit, "max_sessions", most)
	}
	for _, c := range clients {
		require.NoError(t, c.Call("ping", nil))
		require.NoError(t, c.Close())
		require.Eventually(t, func() bool {
			c, err := client.Dial(context.Background(), p.unix, "", nil)
			return err == nil && c.Close() == nil
		}, hangs, time.Millisecond, "a place is free again")
	}
}

func open(c *client.Client, game string, n int) error {
	_, err := c.Open(game, map[string]any{"num_envs": n})
	return err
}

func TestOpenLimits(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Workers = 1
		c.Limits.MaxEnvs, c.Limits.MaxMemory, c.Limits.MaxHandles = 100, 190_000, 3
	})
	c, other := dial(t, p.unix), dial(t, p.unix)
	require.NoError(t, open(other, "toy:pick", 60))
	limited(t, open(c, "toy:pick", 101), wire.Limit, "max_envs", 100)
	limited(t, open(c, "toy:pick", 41), wire.Limit, "max_envs", 100)
	limited(t, open(c, "blockbattle", 40), wire.Limit, "max_memory", 190_000)
	limited(t, open(c, "toy:pick", 1<<20), wire.Limit, "max_envs", 100)
	for range 3 {
		require.NoError(t, open(c, "toy:pick", 10))
	}
	limited(t, open(c, "toy:pick", 1), wire.Limit, "max_handles", 3)
	require.NoError(t, c.Call("close", nil, 2))
	require.NoError(t, open(c, "toy:pick", 1))
	require.Equal(t, wire.BadHandle, code(t, c.Call("close", nil, 2)))
}

func TestMessageLimits(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Limits.MaxMessage, c.Limits.MaxReply, c.Limits.MaxReplies = 200_000, 64<<10, 64<<10
	})
	too := func(method string, params ...any) {
		err := dial(t, p.unix).Call(method, nil, params...)
		require.Equal(t, wire.TooLarge, code(t, err), err)
	}
	too("ping", make([]byte, 70_000))
	too("ping", make([]byte, 8<<20)) // the server does not read it to its end
	too("step", 1, make([]byte, 70_000))
	too("restore", 1, nil, make([]byte, 200_000))
	g := startGames(t, dial(t, p.unix), "blockbattle", map[string]any{"num_envs": 200})
	require.Equal(t, wire.BadParams, code(t, g.Step(make([]byte, 8*400))), "a wrong dtype is answered, not cut off")
	require.Equal(t, wire.BadParams, code(t, g.Step(make([]byte, 799))))
	limited(t, g.Call("rollout", nil, 2), wire.Limit, "max_reply", 64<<10)
}

// held opens games in which a step lasts until the gate opens, and asks for such a step.
func held(t *testing.T, address string) net.Conn {
	options := map[string]any{"num_envs": 2, "opponents": map[int]string{1: "gate"}}
	conn := greeted(t, address, request("open", "toy:pick", options), request("reset", 1))
	write(conn, request("step", 1, u16(65535, 65535)))
	return conn
}

func TestInflightLimit(t *testing.T) {
	change, open := gated(func(c *server.Config) { c.Limits.MaxInflight = 2 })
	conn := held(t, start(t, change).unix)
	const more = 20
	write(conn, bytes.Repeat(request("ping"), more))
	for range more - 2 {
		require.Equal(t, wire.Busy, answer(t, conn), "the refusals overtake")
	}
	close(open)
	for range 3 {
		require.Zero(t, answer(t, conn), "what was in flight is answered")
	}
}

func TestBusyAnswersSayWhen(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxReplies = 1000; c.Limits.MaxReply = 64 << 10 })
	err := startGames(t, dial(t, p.unix), "blockbattle", nil).Call("afterstates", nil, nil)
	require.Positive(t, limited(t, err, wire.Busy, "max_replies", 1000).RetryMS)
}

func TestListenRefuses(t *testing.T) {
	for _, address := range []string{
		"", "unix:", "tcp:", "tcp:0.0.0.0:0", "tcp::0", "tcp:[::]:0", "udp:127.0.0.1:0", "tcp:127.0.0.1:99999",
		"unix:/no/such/folder/s",
	} {
		require.Error(t, envtest.Failed(listen.Listen(address, nil, listen.Credentials{})), address)
	}
	l := envtest.Must(listen.Listen("tcp:0.0.0.0:0", []limits.Token{{Secret: "secret"}}, listen.Credentials{}))
	require.NoError(t, l.Close())
}

// TestDraining lets a request in flight finish and refuses the next.
func TestDraining(t *testing.T) {
	change, open := gated(func(c *server.Config) { c.Limits.DrainTimeout = 20 * time.Second })
	p := start(t, change)
	conn := held(t, p.unix)
	require.Eventually(t, func() bool { return p.Inflight() > 0 }, hangs, time.Millisecond)
	stopped := make(chan struct{})
	go func() { p.stop(); close(stopped) }()
	require.Eventually(t, p.Draining, hangs, time.Millisecond)
	require.Equal(t, wire.Draining, asks(t, conn, request("ping")), "overtakes")
	close(open)
	require.Zero(t, answer(t, conn), "the step")
	require.Error(t, envtest.Failed(conn.Read(make([]byte, 1))))
	<-stopped
}

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
			require.Zero(t, asks(t, conn, request("ping")))
		}
		silent = append(silent, conn)
	}
	for _, address := range []string{p.unix, p.tcp, p.unix, p.tcp} {
		require.NoError(t, dial(t, address, "secret").Call("stats", nil))
	}
	// The first TCP client needed room; its hello gave the second client a place.
	require.NotErrorIs(t, envtest.Failed(silent[0].Read(make([]byte, 1))), os.ErrDeadlineExceeded)
	require.Zero(t, asks(t, silent[1], request("ping")))
}

// TestTokensHaveLimits holds all connections with one token to its limits; others have the server's.
func TestTokensHaveLimits(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Workers, c.Limits.MaxEnvs = 1, 1000
		c.Tokens = []limits.Token{
			{Name: "ann", Secret: "a", MaxSessions: 2, MaxEnvs: 100, MaxMemory: 190_000}, {Name: "bob", Secret: "b"},
		}
	})
	with := func(token string) *client.Client { return dial(t, p.tcp, token) }
	refused := func(err error, limit string, value int64) {
		require.Equal(t, "ann", limited(t, err, wire.Limit, limit, value).Data["token"])
	}
	a, also, b := with("a"), with("a"), with("b")
	require.NoError(t, open(a, "toy:pick", 60))
	refused(open(also, "toy:pick", 41), "max_envs", 100)
	refused(open(also, "blockbattle", 40), "max_memory", 190_000)
	require.NoError(t, open(b, "blockbattle", 100), "bob has the server's limits")
	require.NoError(t, open(also, "toy:pick", 40))
	refused(envtest.Failed(client.Dial(context.Background(), p.tcp, "a", nil)), "max_sessions", 2)

	of := func() fields { return ask(t, a, "stats")["token"].(map[string]any) }
	require.Equal(t, 200, ask(t, a, "stats")["envs"])
	all := of()
	require.Positive(t, all["memory"])
	require.Equal(t, fields{"name": "ann", "sessions": 2, "envs": 100, "memory": all["memory"]}, all)

	require.NoError(t, also.Close())
	require.Eventually(t, func() bool { return of()["sessions"] == 1 }, hangs, time.Millisecond)
	now := of()
	require.Equal(t, 60, now["envs"], "what a session had is free again")
	require.Less(t, now["memory"], all["memory"])
	require.NoError(t, a.Call("close", nil, 1))
	require.Equal(t, fields{"name": "ann", "sessions": 1, "envs": 0, "memory": 0}, of())
	require.NoError(t, open(with("a"), "toy:pick", 100))
}

// TestHelloNamesTheLimitsOfTheToken also refuses a connection that has no token, another one or changes it.
func TestHelloNamesTheLimitsOfTheToken(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Tokens = []limits.Token{{Name: "ann", Secret: "a", MaxEnvs: 100}, {Name: "bob", Secret: "b", MaxEnvs: 1 << 30}}
	})
	require.Equal(t, wire.AuthRequired, code(t, client.New(raw(t, p.tcp)).Hello("")))
	require.Equal(t, wire.AuthFailed, code(t, client.New(raw(t, p.tcp)).Hello("wrong")))
	for token, want := range map[string]int{"a": 100, "b": limits.DefaultLimits().MaxEnvs} {
		c := client.New(raw(t, p.tcp))
		for range 2 { // it may be repeated
			greeting := ask(t, c, "hello", map[string]any{"proto": []int{3, 0}, "token": token})
			require.Equal(t, want, greeting["limits"].(map[string]any)["max_envs"])
		}
		require.Equal(t, wire.AuthFailed, code(t, c.Hello(map[string]string{"a": "b", "b": "a"}[token])))
	}
}

// greeted is a connection after hello and requests that succeed.
func greeted(t *testing.T, address string, requests ...[]byte) net.Conn {
	conn := raw(t, address)
	for _, r := range append([][]byte{hello()}, requests...) {
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
		p := start(t, func(c *server.Config) { c.Limits.MaxBuffered = 4 << 20 })
		conn := greeted(t, p.unix, request("open", "toy:pick", map[string]any{"num_envs": 50_000}))
		const many = 12
		go func() { _, _ = conn.Write(bytes.Repeat(request(method, params...), many)) }()
		for range many {
			require.NotZero(t, answer(t, conn))
		}
		require.Eventually(t, func() bool { return p.Buffered() == 0 }, hangs, time.Millisecond)
		g := startGames(t, dial(t, p.tcp), "toy:pick", map[string]any{"num_envs": 50_000})
		require.NoError(t, g.Step(none(g.Rows)))
		require.Zero(t, asks(t, conn, request("ping")), "the connection is still open")
	}
}

// TestOthersKeepTheirShare has some sessions use up what there is for requests, with requests that never end. A session
// that sends small requests does not notice; one that sends a large request, though a smaller one than theirs, waits
// until theirs are given up.
func TestOthersKeepTheirShare(t *testing.T) {
	p := start(t, narrow)
	small, large := dial(t, p.unix), dial(t, p.unix)
	openGames(large, "toy:pick", nil)
	endless := request("restore", 1, nil, make([]byte, 2<<20))
	for range 4 {
		conn := greeted(t, p.unix) // before the answer to hello, the server reads nothing large
		go func() { _, _ = conn.Write(endless[:len(endless)-1]) }()
	}
	// What has arrived never becomes less, and is held until the first of these requests is given up.
	arrived := func() bool { return p.Counts().Received.Load() > 3<<20+1<<18 }
	require.Eventually(t, arrived, hangs, time.Millisecond)
	done := make(chan error, 1)
	go func() { done <- large.Call("restore", nil, 1, nil, make([]byte, 1<<20)) }()
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
	b := request("restore", 1, nil, make([]byte, 3<<20-100))
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
	write(greedy, request("restore", 1, nil, make([]byte, 3<<20-100)))
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
	p := start(t, func(c *server.Config) {
		c.Limits.MaxReply, c.Limits.MaxReplies, c.Limits.WriteTimeout = 2<<20, 4<<20, hangs
	})
	options := map[string]any{"num_envs": 16}
	g := startGames(t, dial(t, p.unix), "blockbattle", options)
	steps := (2<<20 - 4096) / (g.Len + 2*32)
	for range 3 {
		conn := greeted(t, p.unix, request("open", "blockbattle", options), request("reset", 1))
		write(conn, request("rollout", 1, steps))
	}
	require.Eventually(t, func() bool { return p.Counts().ReplyMemory > 3<<20 }, hangs, time.Millisecond) // of two of them
	require.NoError(t, g.Call("rollout", nil, steps))
}
