package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"blockyard/rpc/session/limits"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/server/listen"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// first is an agent that plays the lowest legal action.
type first struct{ legal []env.Action }

func (a *first) Act(_ context.Context, s env.State, seat int) (env.Action, error) {
	a.legal = s.Legal(seat, a.legal[:0])
	return a.legal[0], nil
}

func (*first) AppendMemory(dst []byte) ([]byte, error) { return dst, nil }

func (*first) RestoreMemory(src []byte) error {
	if len(src) > 0 {
		return fmt.Errorf("first: memory of %d bytes, want none", len(src))
	}
	return nil
}

// last is an agent that plays the highest legal action.
type last struct{ first }

func (a *last) Act(_ context.Context, s env.State, seat int) (env.Action, error) {
	a.legal = s.Legal(seat, a.legal[:0])
	return a.legal[len(a.legal)-1], nil
}

// A gate is an agent that plays once it is opened, or when its context ends.
type gate struct {
	first
	open <-chan struct{}
}

func (g *gate) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	select {
	case <-g.open:
	case <-ctx.Done():
	}
	return g.first.Act(ctx, s, seat)
}

// gated adds the opponent "gate" to a server and returns what opens it.
func gated(change func(*server.Config)) (func(*server.Config), chan struct{}) {
	open := make(chan struct{})
	return func(c *server.Config) {
		before := c.Agents
		c.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
			if t.String() == "gate" {
				return func(uint64) (env.Agent, error) { return &gate{open: open}, nil }, nil
			}
			return before(g, t)
		}
		change(c)
	}, open
}

// config serves small games and one large one, with some opponents.
func config() server.Config {
	return server.Config{
		Games:   []*env.Game{toy.Pick, toy.Turns, blockbattle.Game, blockbattle.ClassicGame},
		Version: "test",
		Limits:  limits.DefaultLimits(),
		Agents: func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
			if _, name, ok := strings.Cut(t.String(), "weights="); ok {
				data, err := t.Read(name)
				if err == nil && string(data[:4]) != "good" {
					err = errors.New("bad weights")
				}
				return func(uint64) (env.Agent, error) { return &first{}, nil }, err
			}
			switch t.String() {
			case "first", "second", "again":
				return func(uint64) (env.Agent, error) { return &first{}, nil }, nil
			case "last":
				return func(uint64) (env.Agent, error) { return &last{}, nil }, nil
			case "broken":
				return func(uint64) (env.Agent, error) { return nil, fmt.Errorf("no such engine") }, nil
			}
			return nil, fmt.Errorf("unknown agent %q", t)
		},
		Opponents: func(*env.Game) []string { return []string{"first"} },
	}
}

// A place is a running server.
type place struct {
	*server.Server
	unix, tcp string
	log       *safeLog
	stop      func()
}

// A safeLog is a log that several goroutines write.
type safeLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (p *place) logged() string {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return p.log.buf.String()
}

// start runs a server on a unix socket and a TCP port until the test ends.
func start(t testing.TB, change func(*server.Config)) *place {
	t.Helper()
	p := &place{log: &safeLog{}}
	c := config()
	c.Log = slog.New(slog.NewTextHandler(p.log, nil))
	if change != nil {
		change(&c)
	}
	p.Server = server.New(c)
	var all []net.Listener
	for _, address := range []string{"unix:" + filepath.Join(t.TempDir(), "s"), "tcp:127.0.0.1:0"} {
		l, err := listen.Listen(address, c.Tokens, listen.Credentials{})
		require.NoError(t, err)
		all = append(all, l)
		go func() { _ = p.Serve(l) }()
	}
	p.unix, p.tcp = listen.Name(all[0]), listen.Name(all[1])
	stopped := false
	p.stop = func() {
		if stopped {
			return
		}
		stopped = true
		for _, l := range all {
			require.NoError(t, l.Close())
		}
		require.NoError(t, p.Shutdown(context.Background()))
	}
	t.Cleanup(p.stop)
	return p
}

func dial(t testing.TB, address string) *client.Client {
	t.Helper()
	c, err := client.Dial(context.Background(), address, "", nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	c.Timeout = 5 * time.Minute // on a busy machine, under the race detector
	return c
}

// code is the number of the error that a request ended with, 0 for none.
func code(t testing.TB, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var refusal *wire.Error
	require.ErrorAs(t, err, &refusal)
	return refusal.Code
}

// A chooser picks the action of a row: the first, last, next … legal one.
type chooser uint64

// choose fills actions from masks of so many bytes a row.
func (c *chooser) choose(masks []byte, rows int, actions []byte) {
	width := len(masks) / rows
	for r := range rows {
		mask := masks[r*width : (r+1)*width]
		n := 0
		for _, b := range mask {
			n += bits.OnesCount8(b)
		}
		a := uint16(env.None)
		if n > 0 {
			*c = chooser(env.Mix(uint64(*c) + 1))
			a = nth(mask, int(uint64(*c)%uint64(n)))
		}
		binary.LittleEndian.PutUint16(actions[2*r:], a)
	}
}

func nth(mask []byte, k int) uint16 {
	for i, b := range mask {
		if n := bits.OnesCount8(b); k >= n {
			k -= n
			continue
		}
		for ; k > 0; k-- {
			b &= b - 1
		}
		return uint16(8*i + bits.TrailingZeros8(b))
	}
	return uint16(env.None)
}

// play resets, steps with chosen legal actions and hashes every slab.
func play(t testing.TB, g *client.Games, steps int) string {
	t.Helper()
	sum := sha256.New()
	require.NoError(t, g.CallSlab("reset"))
	_, _ = sum.Write(g.Slab)
	var c chooser
	actions := make([]byte, 2*g.Rows)
	for range steps {
		c.choose(g.Field("mask"), g.Rows, actions)
		require.NoError(t, g.Step(actions))
		_, _ = sum.Write(g.Slab)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// playInProcess does the same without a wire.
func playInProcess(t testing.TB, game *env.Game, n, steps int, seed uint64) string {
	t.Helper()
	e, err := vec.New(game, vec.Config{Envs: n})
	require.NoError(t, err)
	defer e.Close()
	l, err := e.Layout("planes", "globals", "legal", "seat", "reward", "terminated", "truncated", "score")
	require.NoError(t, err)
	l.Len = 0
	for i := range l.Fields {
		l.Fields[i].Offset = (l.Len + 63) / 64 * 64
		l.Len = l.Fields[i].Offset + (l.Fields[i].Len+7)/8*8
	}
	block := l.Alloc()
	out, err := l.View(block)
	require.NoError(t, err)
	sum := sha256.New()
	require.NoError(t, e.Reset(vec.From(seed), nil, out))
	_, _ = sum.Write(block)
	var c chooser
	rows := n * e.Rows()
	raw, actions := make([]byte, 2*rows), make([]env.Action, rows)
	for range steps {
		c.choose(out.Legal, rows, raw)
		for i := range actions {
			actions[i] = env.Action(binary.LittleEndian.Uint16(raw[2*i:]))
		}
		require.NoError(t, e.Step(actions, out))
		_, _ = sum.Write(block)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// TestSameEverywhere plays the same games over each transport and in process.
func TestSameEverywhere(t *testing.T) {
	p := start(t, nil)
	for _, game := range []*env.Game{toy.Pick, toy.Turns, blockbattle.Game} {
		t.Run(game.Name, func(t *testing.T) {
			want := playInProcess(t, game, 37, 200, 5)
			for _, address := range []string{p.unix, p.tcp} {
				g, err := dial(t, address).Open(game.Name, map[string]any{"num_envs": 37, "seed": 5})
				require.NoError(t, err)
				require.Equal(t, want, play(t, g, 200))
				require.Equal(t, want, play(t, reopened(t, g, game), 200), "a second handle of the session")
			}
		})
	}
}

func reopened(t testing.TB, g *client.Games, game *env.Game) *client.Games {
	t.Helper()
	again, err := g.Client().Open(game.ID, map[string]any{"num_envs": 37, "seed": 5})
	require.NoError(t, err)
	require.NotEqual(t, g.H, again.H)
	return again
}

// TestShutdownLeavesNothing ends a server in the middle of work.
func TestShutdown(t *testing.T) {
	p := start(t, nil)
	c := dial(t, p.unix)
	g, err := c.Open("blockbattle", map[string]any{"num_envs": 64})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	done := make(chan error, 1)
	go func() {
		done <- g.Call("rollout", nil, 1_000_000, map[string]any{"keep": "last"})
	}()
	other, stats := dial(t, p.unix), struct {
		Steps int `msgpack:"steps"`
	}{}
	for stats.Steps == 0 { // until the rollout is under way
		require.NoError(t, other.Call("stats", &stats))
	}
	p.stop()
	require.Error(t, <-done, "the rollout was cut off")
}
