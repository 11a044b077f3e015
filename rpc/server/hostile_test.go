package server_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// hangs is how long a test waits for what must come: longer than any machine takes.
const hangs = 2 * time.Minute

// connect opens a connection, which the caller closes.
func connect(t testing.TB, address string) net.Conn {
	t.Helper()
	network, rest, _ := strings.Cut(address, ":")
	conn, err := net.Dial(network, rest)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(hangs)))
	return conn
}

// raw is a connection without a client around it.
func raw(t testing.TB, address string) net.Conn {
	t.Helper()
	conn := connect(t, address)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func request(t testing.TB, method string, params ...any) []byte {
	t.Helper()
	b, err := wire.AppendRequest(nil, 77, method, params...)
	require.NoError(t, err)
	return b
}

func hello(t testing.TB) []byte {
	return request(t, "hello", map[string]any{"proto": []int{3, 0}})
}

// write sends requests, or parts of them.
func write(t testing.TB, conn net.Conn, b []byte) {
	t.Helper()
	_, err := conn.Write(b)
	require.NoError(t, err)
}

// asks sends a request and returns the code of its answer, 0 for a result.
func asks(t *testing.T, conn net.Conn, request []byte) int {
	t.Helper()
	write(t, conn, request)
	return answer(t, conn)
}

// answer reads one answer and returns the code of its error.
func answer(t *testing.T, conn net.Conn) int {
	t.Helper()
	_, failure, err := wire.ReadResponse(bufio.NewReader(bytes.NewReader(readMessage(t, conn))), nil)
	require.NoError(t, err)
	if failure == nil {
		return 0
	}
	return failure.Code
}

// What is in use: goroutines, open files, mappings of shared memory.
type use struct{ goroutines, files, mappings int }

func inUse(t testing.TB) use {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return use{runtime.NumGoroutine(), len(files), bytes.Count(maps, []byte("memfd:blockyard"))}
}

// settled waits until no more is in use than before.
func settled(t testing.TB, before use) {
	t.Helper()
	var now use
	for until := time.Now().Add(hangs); time.Now().Before(until); {
		now = inUse(t)
		if now.goroutines <= before.goroutines && now.files <= before.files && now.mappings <= before.mappings {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Fatalf("left behind: %+v, before %+v\n%s", now, before, stacks[:runtime.Stack(stacks, true)])
}

// unharmed begins to watch a server. The function that it returns wants that the server goes on, has needed little
// memory and logged no panic, and that nothing is left in use.
func unharmed(t *testing.T, p *place) (check func()) {
	before, high := inUse(t), peak()
	return func() {
		t.Helper()
		c := dial(t, p.tcp)
		require.Less(t, high(), int64(memoryLimit))
		settled(t, use{before.goroutines + 2, before.files + 2, before.mappings}) // this client is connected
		require.Zero(t, p.Buffered(), "bytes still counted")
		require.NotContains(t, p.logged(), "panic")
		nothingOpen(t, c)
	}
}

// nothingOpen wants that only this client is connected and that nothing of others is left.
func nothingOpen(t *testing.T, c *client.Client) {
	t.Helper()
	now := ask(t, c, "stats")
	require.Equal(t, []any{1, 0, 0, 0}, []any{now["sessions"], now["handles"], now["envs"], now["memory"]})
}

// peak begins to measure the memory in use; the function that it returns ends that, and returns the most so far. What the
// collector has not got round to does not count: that hangs on the machine.
func peak() (stop func() int64) {
	done, most := make(chan struct{}), make(chan int64)
	go func() {
		var high int64
		for {
			high = max(high, heap())
			select {
			case <-done:
				most <- high
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() int64 { close(done); return <-most }
}

const memoryLimit = 128 << 20

var bombs = map[string][]byte{
	"map of 4 billion":  {0xdf, 255, 255, 255, 255},
	"nested 20 million": bytes.Repeat([]byte{0x91}, 20_000_000),
	"5000 values":       append([]byte{0x91, 0xdc, 0x13, 0x88}, make([]byte, 5000)...),
}

func TestBombs(t *testing.T) {
	p := start(t, nil)
	check := unharmed(t, p)
	for _, method := range []string{"hello", "restore", "step", "nothing"} {
		for name, bomb := range bombs {
			for _, greeted := range []bool{false, true} {
				conn := connect(t, p.unix)
				if greeted {
					require.Zero(t, asks(t, conn, hello(t)))
				}
				head := request(t, method)
				go func() { _, _ = conn.Write(append(head[:len(head)-1:len(head)-1], bomb...)) }()
				code := answer(t, conn)
				require.Contains(t, []int{wire.BadFrame, wire.TooLarge}, code, "%s in %s", name, method)
				rest, err := io.ReadAll(conn)
				require.Empty(t, rest)
				require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection stays open")
				require.NoError(t, conn.Close())
			}
		}
	}
	check()
}

// TestManyLargeRequests has every session send as much as it may at once, and stop before
// the end.
func TestManyLargeRequests(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.FrameTimeout = time.Second })
	check := unharmed(t, p)
	var conns []net.Conn
	chunk := make([]byte, 1<<20)
	for range 30 {
		conn := greeted(t, p.unix)
		head := append([]byte{0x94, 0, 1, 0xa7}, "restore"...)
		write(t, conn, append(head, 0x93, 1, 0xc0, 0xc6, 0, 0xf0, 0, 0))
		conns = append(conns, conn)
	}
	for range 15 {
		for _, conn := range conns {
			_, _ = conn.Write(chunk) // some are refused by now
		}
	}
	meanwhile := dial(t, p.unix)
	require.NoError(t, meanwhile.Call("ping", nil))
	for _, conn := range append(conns, meanwhile.Conn()) {
		require.NoError(t, conn.Close())
	}
	check()
}

// TestRandomFrames sends noise, and requests with some bytes changed or cut off.
func TestRandomFrames(t *testing.T) {
	frames := envtest.Many(2_000, 10_000)
	p := start(t, func(c *server.Config) { c.Limits.FrameTimeout = time.Second })
	check := unharmed(t, p)
	seeds := [][]byte{
		hello(t), request(t, "open", "toy:pick", map[string]any{"num_envs": 3, "opponents": map[int]string{1: "first"}}),
		request(t, "open", "blockbattle", map[string]any{"num_envs": 2, "autoreset": "SameStep"}),
		request(t, "reset", 1, map[string]any{"seed": 1, "mask": []byte{1, 0, 1}}), request(t, "legal", 1, nil),
		request(t, "step", 1, make([]byte, 6)), request(t, "afterstates", 1, nil), request(t, "snapshot", 1, nil),
		request(t, "final", 1),
		request(t, "restore", 1, u32(0), make([]byte, 200)), request(t, "clone", 1, u32(0), u32(1)),
		request(t, "rollout", 1, 3),
		request(t, "render", 1, 0), request(t, "set_opponents", 1, map[int]any{1: []any{[]any{"first", 1}, []any{"last", 2}}}),
		request(t, "opponent_stats", 1), request(t, "upload", "toy:pick", "net:weights="+sumOf("good"), []byte("good")),
		request(t, "drop_upload", sumOf("good")), request(t, "close", 1),
		request(t, "text", "toy:pick", u16(1)),
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(11, uint64(worker)))
			for sent := 0; sent < frames/4; {
				sent += noise(p, r, seeds)
			}
		})
	}
	wg.Wait()
	check()
}

// noise sends up to 40 frames over one connection and returns how many.
func noise(p *place, r *rand.Rand, seeds [][]byte) int {
	network, rest, _ := strings.Cut([]string{p.unix, p.tcp}[r.IntN(2)], ":")
	conn, err := net.Dial(network, rest)
	if err != nil {
		return 0
	}
	defer conn.Close()
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	_ = conn.SetDeadline(time.Now().Add(hangs))
	if r.IntN(4) > 0 {
		_, _ = conn.Write(seeds[0])
	}
	for sent := range 40 {
		b := bytes.Clone(seeds[r.IntN(len(seeds))])
		switch r.IntN(6) {
		case 0: // noise from the first byte
			b = make([]byte, 1+r.IntN(100))
			for i := range b {
				b[i] = byte(r.Uint32())
			}
		case 1: // cut off
			b = b[:r.IntN(len(b))]
		case 2, 3: // bytes changed behind the method's name
			for range 1 + r.IntN(3) {
				at := min(len(b)-1, 8) + r.IntN(max(1, len(b)-8))
				b[min(at, len(b)-1)] = byte(r.Uint32())
			}
		}
		if _, err := conn.Write(b); err != nil {
			return sent + 1
		}
	}
	return 40
}

// TestKilledClients vanish at every moment of a session, over a unix socket also in the midst of slots.
func TestKilledClients(t *testing.T) {
	p := start(t, nil)
	before, check := inUse(t), unharmed(t, p)
	script := bytes.Join([][]byte{
		hello(t), request(t, "open", "blockbattle", map[string]any{"num_envs": 16, "opponents": map[int]string{1: "first"}}),
		request(t, "reset", 1), request(t, "share", 1, 3), wire.AppendStepSlot(nil, 9, 1, 1), request(t, "share", 1, 1),
		request(t, "rollout", 1, 1000, map[string]any{"keep": "last"}),
		request(t, "afterstates", 1, nil),
		request(t, "step", 1, make([]byte, 32)), request(t, "snapshot", 1, nil),
	}, nil)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range envtest.Many(200, 1000) {
		conn := connect(t, []string{p.unix, p.tcp}[i%2])
		if c, ok := conn.(*net.TCPConn); ok && i%3 == 0 {
			require.NoError(t, c.SetLinger(0)) // a reset instead of an end
		}
		_, _ = conn.Write(script[:r.IntN(len(script)+1)])
		if i%5 == 0 {
			time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
		}
		require.NoError(t, conn.Close())
		for inUse(t).files > before.files+30 { // as many sessions at once on any machine
			time.Sleep(time.Millisecond)
		}
	}
	check()
}

// TestSlowClients neither finish a request, nor say hello, nor take an answer.
func TestSlowClients(t *testing.T) {
	strict := start(t, func(c *server.Config) { c.Limits.HelloTimeout = 100 * time.Millisecond })
	p := start(t, func(c *server.Config) {
		c.Limits.FrameTimeout, c.Limits.WriteTimeout = 200*time.Millisecond, 300*time.Millisecond
		c.Limits.HelloTimeout = time.Hour
	})
	before := inUse(t)
	silent, half, deaf := raw(t, strict.tcp), greeted(t, p.tcp), greeted(t, p.unix)
	write(t, half, request(t, "open", "toy:pick")[:9])
	write(t, deaf, slices.Concat( // at once: an answer that it does not take ends the connection
		request(t, "open", "blockbattle", map[string]any{"num_envs": 8192}), request(t, "reset", 1), request(t, "reset", 1)))
	for _, conn := range []net.Conn{silent, half} {
		_, err := io.ReadAll(conn)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection stays open")
	}
	settled(t, use{before.goroutines, before.files + 3, before.mappings}) // our ends of the connections
	idle := dial(t, p.unix)
	time.Sleep(1200 * time.Millisecond)
	require.NoError(t, idle.Call("ping", nil), "a client may be idle between requests")
}

// When a client is gone, or the server stops without it, whatever searches for this client stops: no game of a request
// is played any further, and no agent is asked again.
func TestSearchesEndWithTheirClient(t *testing.T) {
	const games, workers = 400, 3
	var all []uint32
	for i := range uint32(games) {
		all = append(all, i)
	}
	for _, c := range []struct {
		name, game string
		opponents  map[int]any
		method     string
		params     []any
	}{
		{"rollout", "toy:pick", nil, "rollout", []any{1000, map[string]any{"policy": "search", "keep": "last"}}},
		{"rollout against opponents", "toy:pick", map[int]any{1: "search"}, "rollout", []any{1000, map[string]any{"keep": "last"}}},
		{"step", "toy:pick", map[int]any{1: "search"}, "step", []any{make([]byte, 2*games)}},
		{"reset", "toy:turns", map[int]any{0: "search"}, "reset", nil},
		{"send", "toy:pick", map[int]any{1: "search"}, "send", []any{u32(all...), make([]byte, 2*games)}},
	} {
		for _, end := range []string{"the client is gone", "the server stops"} {
			t.Run(c.name+": "+end, func(t *testing.T) {
				var left, late atomic.Int64  // choices until one that lasts until its context ends; those that begin after that
				begun := make(chan struct{}) // the long one
				p := start(t, func(config *server.Config) {
					config.Workers, config.Limits.DrainTimeout = workers, 50*time.Millisecond
					addAgent(config, "search", playing(func(ctx context.Context, legal []env.Action) (env.Action, error) {
						switch {
						case ctx.Err() != nil:
							late.Add(1)
						case left.Add(-1) == 0:
							close(begun)
							<-ctx.Done()
						}
						return legal[0], nil
					}))
				})
				g := startGames(t, dial(t, p.unix), c.game, map[string]any{"num_envs": games, "illegal": "random", "opponents": c.opponents})
				left.Store(100)
				go func() { _ = g.Call(c.method, nil, c.params...) }()
				<-begun
				if end == "the server stops" {
					p.stop()
				} else {
					require.NoError(t, g.Client().Close())
					p.AwaitIdle(t.Context())
				}
				require.LessOrEqual(t, late.Load(), int64(workers))
			})
		}
	}
}
