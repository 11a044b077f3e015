package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
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

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// hangs is how long a test waits for what must come: longer than any machine takes.
const hangs = 2 * time.Minute

// raw is a connection without a client around it.
func raw(t testing.TB, address string) net.Conn {
	network, rest, _ := strings.Cut(address, ":")
	conn := envtest.Closing(t, envtest.Must(net.Dial(network, rest)))
	require.NoError(t, conn.SetDeadline(time.Now().Add(hangs)))
	return conn
}

func request(method string, params ...any) []byte {
	return envtest.Must(wire.AppendRequest(nil, 77, method, params...))
}

func hello() []byte { return request("hello", map[string]any{"proto": []int{3, 0}}) }

// write sends requests, or parts of them.
func write(conn net.Conn, b []byte) { envtest.Must(conn.Write(b)) }

// asks sends a request and returns the code of its answer, 0 for a result.
func asks(t *testing.T, conn net.Conn, request []byte) int {
	write(conn, request)
	return answer(t, conn)
}

// answer reads one answer and returns the code of its error.
func answer(t *testing.T, conn net.Conn) int {
	_, failure := envtest.Must2(wire.ReadResponse(bufio.NewReader(bytes.NewReader(readMessage(conn))), nil))
	if failure == nil {
		return 0
	}
	return failure.Code
}

// What is in use: goroutines, open files, mappings of shared memory.
type use struct{ goroutines, files, mappings int }

func inUse() use {
	files := envtest.Must(os.ReadDir("/proc/self/fd"))
	maps := envtest.Must(os.ReadFile("/proc/self/maps"))
	return use{runtime.NumGoroutine(), len(files), bytes.Count(maps, []byte("memfd:blockyard"))}
}

// settled waits until no more is in use than before.
func settled(t testing.TB, before use) {
	var now use
	for until := time.Now().Add(hangs); time.Now().Before(until); {
		now = inUse()
		if now.goroutines <= before.goroutines && now.files <= before.files && now.mappings <= before.mappings {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Fatalf("left behind: %+v, before %+v\n%s", now, before, stacks[:runtime.Stack(stacks, true)])
}

// unharmed begins to watch a server. The function that it returns wants that the server goes on and has logged no panic,
// and that nothing is left in use.
func unharmed(t *testing.T, p *place) (check func()) {
	before := inUse()
	return func() {
		c := dial(t, p.tcp)
		settled(t, use{before.goroutines + 2, before.files + 2, before.mappings}) // this client is connected
		require.Zero(t, p.Buffered(), "bytes still counted")
		require.NotContains(t, p.logged(), "panic")
		now := ask(t, c, "stats")
		require.Equal(t, []any{1, 0, 0, 0}, []any{now["sessions"], now["handles"], now["envs"], now["memory"]})
	}
}

// Requests that claim more than they may are answered, and end the connection.
func TestBombs(t *testing.T) {
	p := start(t, nil)
	check := unharmed(t, p)
	for _, method := range []string{"hello", "restore", "step", "nothing"} {
		for _, bomb := range [][]byte{{0xdf, 255, 255, 255, 255}, bytes.Repeat([]byte{0x91}, 20_000_000)} {
			for _, first := range [][]byte{nil, hello()} {
				conn := raw(t, p.unix)
				write(conn, first)
				if first != nil {
					require.Zero(t, answer(t, conn))
				}
				head := request(method)
				go func() { _, _ = conn.Write(append(head[:len(head)-1:len(head)-1], bomb...)) }()
				require.Contains(t, []int{wire.BadFrame, wire.TooLarge}, answer(t, conn), "%x in %s", bomb[0], method)
				rest, err := io.ReadAll(conn)
				require.Empty(t, rest)
				require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection stays open")
				require.NoError(t, conn.Close())
			}
		}
	}
	check()
}

// TestRandomFrames sends requests in order, then any, and noise, and requests with some bytes changed or cut off, and
// closes or resets the connection at any moment.
func TestRandomFrames(t *testing.T) {
	frames := envtest.Many(4_000, 20_000)
	p := start(t, func(c *server.Config) { c.Limits.FrameTimeout = time.Second })
	check := unharmed(t, p)
	slot := map[string]any{"slot": 1}
	seeds := [][]byte{
		hello(), request("open", "blockbattle", map[string]any{"num_envs": 16, "opponents": map[int]string{1: "first"}}),
		request("reset", 1), request("share", 1, 3), wire.AppendStepSlot(nil, 9, 1, 1), request("share", 1, 1),
		request("rollout", 1, 1000, map[string]any{"keep": "last"}), request("step", 1, make([]byte, 32)),
		request("open", "toy:pick", map[string]any{"num_envs": 3, "autoreset": "SameStep"}),
		request("reset", 1, map[string]any{"seed": 1, "mask": []byte{1, 0, 1}}), request("legal", 1, nil),
		request("afterstates", 1, nil), request("snapshot", 1, nil), request("final", 1),
		request("restore", 1, u32(0), make([]byte, 200)), request("clone", 1, u32(0), u32(1)),
		request("render", 1, 0), request("set_opponents", 1, map[int]any{1: []any{[]any{"first", 1}, []any{"last", 2}}}),
		request("reset", 1, slot), request("rollout", 1, 3, slot), request("clone", 1, u32(0), u32(1), slot),
		request("share_final", 1), request("opponent_stats", 1),
		request("upload", "toy:pick", "net:weights="+sumOf("good"), []byte("good")),
		request("drop_upload", sumOf("good")), request("close", 1), request("text", "toy:pick", u16(1)),
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

// noise sends up to 40 frames over one connection, which it closes, and returns how many.
func noise(p *place, r *rand.Rand, seeds [][]byte) int {
	network, rest, _ := strings.Cut([]string{p.unix, p.tcp}[r.IntN(2)], ":")
	conn, err := net.Dial(network, rest)
	if err != nil {
		return 0
	}
	defer conn.Close()
	if c, ok := conn.(*net.TCPConn); ok && r.IntN(2) == 0 {
		_ = c.SetLinger(0) // a reset instead of an end
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	_ = conn.SetDeadline(time.Now().Add(hangs))
	begin := bytes.Join(seeds[:r.IntN(9)], nil)
	_, _ = conn.Write(begin[:len(begin)-r.IntN(2)*r.IntN(len(begin)+1)])
	for sent := range r.IntN(40) {
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

// TestSlowClients neither finish a request, nor say hello, nor take an answer.
func TestSlowClients(t *testing.T) {
	strict := start(t, func(c *server.Config) { c.Limits.HelloTimeout = 100 * time.Millisecond })
	p := start(t, func(c *server.Config) {
		c.Limits.FrameTimeout, c.Limits.WriteTimeout = 200*time.Millisecond, 300*time.Millisecond
		c.Limits.HelloTimeout = time.Hour
	})
	before := inUse()
	idle, silent, half, deaf := greeted(t, p.unix), raw(t, strict.tcp), greeted(t, p.tcp), greeted(t, p.unix)
	write(half, request("open", "toy:pick")[:9])
	write(deaf, slices.Concat( // at once: an answer that it does not take ends the connection
		request("open", "blockbattle", map[string]any{"num_envs": 8192}), request("reset", 1), request("reset", 1)))
	for _, conn := range []net.Conn{silent, half} {
		require.NotErrorIs(t, envtest.Failed(io.ReadAll(conn)), os.ErrDeadlineExceeded, "the connection stays open")
	}
	settled(t, use{before.goroutines + 2, before.files + 5, before.mappings}) // the idle client and our other ends
	require.Zero(t, asks(t, idle, request("ping")), "a client may be idle between requests")
}

// When a client is gone, or the server stops without it, whatever searches for this client stops: no game of a request
// is played any further, and no agent is asked again.
func TestSearchesEndWithTheirClient(t *testing.T) {
	const games, workers = 400, 3
	var all [games]uint32
	for i := range all {
		all[i] = uint32(i)
	}
	for _, c := range []struct {
		game      string
		opponents map[int]any
		method    string
		params    []any
	}{
		{"toy:pick", nil, "rollout", []any{1000, map[string]any{"policy": "search", "keep": "last"}}},
		{"toy:pick", map[int]any{1: "search"}, "rollout", []any{1000, map[string]any{"keep": "last"}}},
		{"toy:pick", map[int]any{1: "search"}, "step", []any{make([]byte, 2*games)}},
		{"toy:turns", map[int]any{0: "search"}, "reset", nil},
		{"toy:pick", map[int]any{1: "search"}, "send", []any{u32(all[:]...), make([]byte, 2*games)}},
	} {
		for _, end := range []string{"the client is gone", "the server stops"} {
			t.Run(fmt.Sprintf("%s, %v: %s", c.method, c.opponents, end), func(t *testing.T) {
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

// longest is how many steps a game may take from a restored position to its end.
const longest = 20_000

// A subject is a game or variant with positions that it has been in.
type subject struct {
	*client.Games
	game     *env.Game
	states   [][]byte
	policies []string
}

// FuzzStates restores states with bytes changed or missing, of every game and variant and every number of seats:
// refused, or a position that the server shows and counts, that its agents play in, and from which a client comes to
// the end.
func FuzzStates(f *testing.F) {
	all := append(games.All[:len(games.All):len(games.All)], relettered(f))
	p := start(f, func(c *server.Config) {
		real(1)(c)
		c.Games, c.Features = all, bots.Features
	})
	c := dial(f, p.unix)
	var subjects []*subject
	for _, g := range all {
		for seats := g.MinSeats; seats <= g.MaxSeats; seats++ {
			subjects = append(subjects, visited(f, c, g, seats))
		}
	}
	for which := range subjects {
		f.Add(uint8(which), uint8(which), []byte{})
		f.Add(uint8(which), uint8(3), []byte{0, 64, 1, 0, 90, 255})
		f.Add(uint8(which), uint8(9), []byte{0, 80, 127, 1, 20, 2})
	}
	f.Add(uint8(0), uint8(3), []byte{40})
	f.Fuzz(func(t *testing.T, which, position uint8, patch []byte) {
		s := subjects[int(which)%len(subjects)]
		b := patched(s.states[int(position)%len(s.states)], patch)
		if len(patch)%3 == 1 { // and now and then a length
			b = b[:min(len(b), int(patch[len(patch)-1]))]
		}
		if err := s.CallSlab("restore", nil, b); err != nil {
			require.Contains(t, []int{wire.BadState, wire.BadParams}, code(t, err), err)
			require.NoError(t, s.Reset(nil), "the handle works on")
			return
		}
		for _, method := range []string{"legal", "afterstates", "features", "observe", "observe_text", "snapshot"} {
			if method != "features" || bots.Features(s.game) != nil {
				require.NoError(t, s.Call(method, nil), method)
			}
		}
		require.NoError(t, s.Call("render", nil, 0))
		for _, policy := range s.policies {
			if err := s.Call("rollout", nil, 2, map[string]any{"policy": policy, "keep": "last"}); err != nil {
				require.Equal(t, wire.NeedsReset, code(t, err), "%s: %v", policy, err)
			}
			require.NoError(t, s.CallSlab("restore", nil, b))
		}
		toTheEnd(t, s)
		require.NotContains(t, p.logged(), "panic")
	})
}

// relettered is Blocking with the names of two shapes exchanged.
func relettered(t testing.TB) *env.Game {
	shapes := blocking.DefaultTable.Shapes
	const last = blocking.Letters - 1
	shapes[last], shapes[last-1] = shapes[last-1], shapes[last]
	g := envtest.Must(blocking.With(blocking.NewTable(shapes)))
	require.NotEqual(t, blocking.Game.Name, g.Name)
	return g
}

// visited opens a game and notes positions from its begin to its end.
func visited(t testing.TB, c *client.Client, g *env.Game, seats int) *subject {
	s := &subject{game: g, Games: startGames(t, c, g.Name,
		map[string]any{"num_envs": 1, "seats": seats, "autoreset": "Disabled", "seed": 5})}
	for _, policy := range []string{"hand", "learned"} {
		if slices.Contains(bots.Names(g), policy) && (policy == "hand" || bots.Features(g) != nil) {
			s.policies = append(s.policies, policy)
		}
	}
	var choose chooser
	for n := 0; s.Field("terminated")[0] == 0 && n < 400; n++ {
		if n%5 == 0 {
			s.states = append(s.states, ask(t, s, "snapshot", nil).bytes("states"))
		}
		stepped(t, s.Games, &choose)
	}
	return s
}

// patched is b with bytes changed: a patch is a list of places, of two bytes each, and what is put there.
func patched(b, patch []byte) []byte {
	b = bytes.Clone(b)
	for ; len(patch) >= 3; patch = patch[3:] {
		b[int(binary.BigEndian.Uint16(patch))%len(b)] = patch[2]
	}
	return b
}

// toTheEnd plays legal actions until the episode ends.
func toTheEnd(t *testing.T, s *subject) {
	var choose chooser
	for range longest {
		if err := s.Step(choose.of(s.Games)); err != nil { // the state of a game that is over
			require.Equal(t, wire.NeedsReset, code(t, err), err)
			return
		}
		if s.Field("terminated")[0]|s.Field("truncated")[0] != 0 {
			return
		}
	}
	t.Fatalf("%s goes on after %d steps", s.game.Name, longest)
}

// FuzzMixture gives a seat any opponents with any weights: refused, and then nothing has changed, or playing. The memory
// that they count for is returned when they leave.
func FuzzMixture(f *testing.F) {
	p := start(f, real(1))
	c := dial(f, p.unix)
	options := map[string]any{"num_envs": 2, "opponents": map[int]string{1: "first"}}
	g := startGames(f, c, "blockbattle", options)
	uploaded := "hand:weights=" + sumOf("{}")
	require.Equal(f, wire.BadParams, code(f, c.Call("upload", nil, "blockbattle", uploaded, []byte("{}"))))
	f.Add(uint8(0), "random", "hand:ply=1", 1.0, 2.0)
	f.Add(uint8(1), uploaded, "first", 0.0, -1.0)
	f.Add(uint8(2), "exec:true", "learned:weights=/dev/zero", 1e308, 1e308)
	f.Add(uint8(3), "hand:ply=4,width=999", "hand:time=1h", 5e-324, 1.0)
	f.Add(uint8(4), strings.Repeat("x", 5000), "", 1.0, 1.0)
	base := memory(f, c)
	f.Fuzz(func(t *testing.T, form uint8, a, b string, v, w float64) {
		mixture := []any{
			a, []any{[]any{a, v}, []any{b, w}}, []any{[]any{a, v}, []any{a, w}, []any{b}},
			slices.Repeat([]any{[]any{a, v}}, int(form)+2), map[string]any{a: v}, []any{a, b, v, w, []any{w, a}},
		}[form%6]
		err := g.Call("set_opponents", nil, map[int]any{1: mixture})
		require.Contains(t, []int{0, wire.BadParams, wire.Limit}, code(t, err), err)
		require.Less(t, len(fmt.Sprint(err)), 9000, "an error repeats what it refuses in part only")
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
		require.NoError(t, g.Reset(nil))
		require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}), "now those before are in no game")
		// A spec that a handle has known keeps its number and a little memory.
		known := ask(t, g, "opponent_stats", nil)["count"].(int)
		require.LessOrEqual(t, memory(t, c)-base, known*(128+4096))
		if known > 1000 { // as long as a handle is open
			require.NoError(t, g.Call("close", nil))
			g = openGames(c, "blockbattle", options)
		}
		require.NotContains(t, p.logged(), "panic")
	})
}
