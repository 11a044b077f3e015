package vec_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/vec"
)

// A side is an Env, the block of memory that it writes to, and what each environment has written there.
type side struct {
	*vec.Env
	block  []byte
	layout vec.Layout
	out    *vec.Batch
	seen   [][]string // by environment and step
}

func newSide(t *testing.T, g *env.Game, c vec.Config, seed uint64) *side {
	e, err := vec.New(g, c)
	require.NoError(t, err)
	t.Cleanup(func() { e.Close() })
	l, err := e.Layout()
	require.NoError(t, err)
	s := &side{Env: e, block: l.Alloc(), layout: l, seen: make([][]string, c.Envs)}
	s.out, err = l.View(s.block)
	require.NoError(t, err)
	require.NoError(t, e.Reset(vec.From(seed), nil, s.out))
	return s
}

// look notes all bytes of environment i.
func (s *side) look(i int) {
	var all []byte
	for _, f := range s.layout.Fields {
		n := f.Len / s.Config().Envs
		all = append(all, s.block[f.Offset+i*n:f.Offset+(i+1)*n]...)
	}
	s.seen[i] = append(s.seen[i], string(all))
}

// actions appends what the rows of environment i play next: depending only on i and on how often it was stepped.
func (s *side) actions(i int, dst []env.Action) []env.Action {
	rng := rand.New(rand.NewPCG(uint64(i), uint64(len(s.seen[i]))))
	for r := range s.Rows() {
		a := env.Action(rng.IntN(1 << 16))
		if legal := s.Legal(i, r, nil); len(legal) > 0 && (s.Config().Illegal == vec.Refuse || rng.IntN(4) > 0) {
			a = legal[rng.IntN(len(legal))]
		}
		dst = append(dst, a)
	}
	return dst
}

// Environments stepped in any order, a few at a time, write the same bytes as all of them in step.
func TestStreamSameBytes(t *testing.T) {
	seed := envtest.Seed(t)
	const envs, steps = 7, 40
	for _, g := range allGames() {
		for name, c := range twinConfigs(g) {
			if c.Autoreset == vec.Disabled {
				continue // it resets all environments together
			}
			for _, c.Rows = range []vec.RowForm{vec.SeatRows, vec.ActingRows} {
				t.Run(fmt.Sprintf("%s/%s/%v rows", g.Name, name, c.Rows), func(t *testing.T) {
					c.Envs, c.Workers = envs, 3
					want, got := newSide(t, g, c, seed), newSide(t, g, c, seed)
					for range steps {
						var actions []env.Action
						for i := range envs {
							actions = want.actions(i, actions)
						}
						require.NoError(t, want.Step(actions, want.out))
						for i := range envs {
							want.look(i)
						}
					}
					streamed(t, got, steps, rand.New(rand.NewPCG(seed, 2)))
					require.Equal(t, want.seen, got.seen)
					illegal, _ := want.Counted()
					alike, _ := got.Counted()
					require.Equal(t, illegal, alike)
					require.Equal(t, positions(t, want.Env), positions(t, got.Env))
				})
			}
		}
	}
}

// streamed steps every environment of s this often, in random subsets.
func streamed(t *testing.T, s *side, steps int, rng *rand.Rand) {
	envs := s.Config().Envs
	stream, err := s.Stream(s.out)
	require.NoError(t, err)
	idle := make([]uint32, envs)
	for i := range idle {
		idle[i] = uint32(i)
	}
	for left := envs * steps; left > 0; {
		rng.Shuffle(len(idle), func(a, b int) { idle[a], idle[b] = idle[b], idle[a] })
		n := rng.IntN(len(idle) + 1)
		var actions []env.Action
		for _, i := range idle[:n] {
			actions = s.actions(int(i), actions)
		}
		require.NoError(t, stream.Send(idle[:n], actions))
		idle = idle[n:]
		least := rng.IntN(envs) + 1
		sent, _ := stream.InFlight()
		<-stream.Await(least)
		got, err := stream.Recv(nil, envs)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(got), min(least, sent))
		for _, i := range got {
			s.look(int(i))
			left--
			if len(s.seen[i]) < steps {
				idle = append(idle, i)
			}
		}
	}
	sent, done := stream.InFlight()
	require.Zero(t, sent+done)
	n, busy, workers := stream.Work()
	require.EqualValues(t, envs*steps, n)
	require.Positive(t, busy)
	require.Equal(t, 3, workers)
}

// A slow answers when told to.
type slow struct{ gate chan struct{} }

func (a *slow) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	select {
	case <-a.gate:
		return s.Legal(seat, nil)[0], nil
	case <-ctx.Done():
		return env.None, ctx.Err()
	}
}

// While the agent of one environment thinks, the others are stepped as often as the caller likes.
func TestStreamWaitsForNobody(t *testing.T) {
	gate := make(chan struct{})
	var made atomic.Int32
	agents := []vec.AgentFactory{nil, func(seed uint64) (env.Agent, error) {
		if made.Add(1) == 1 {
			return &slow{gate}, nil
		}
		return newDie(seed)
	}}
	c := vec.Config{Envs: 4, Workers: 2, Agents: agents}
	e, err := vec.New(toy.Pick, c) // both seats act at once: the agent first acts in a step
	require.NoError(t, err)
	defer e.Close()
	out, err := e.NewBatch()
	require.NoError(t, err)
	require.NoError(t, e.Reset(vec.From(1), nil, out))
	stream, err := e.Stream(out)
	require.NoError(t, err)
	send := func(envs ...uint32) {
		var actions []env.Action
		for _, i := range envs {
			actions = append(actions, append(e.Legal(int(i), 0, nil), env.None)[0])
		}
		require.NoError(t, stream.Send(envs, actions))
	}
	send(0, 1, 2, 3)
	for turn, others := 0, []uint32(nil); turn < 20; turn++ {
		<-stream.Await(3)
		got, err := stream.Recv(nil, 4)
		require.NoError(t, err)
		require.Len(t, got, 3)
		if turn == 0 {
			others = slices.Clone(got)
		}
		require.ElementsMatch(t, others, got)
		send(got...)
	}
	<-stream.Await(3)
	close(gate)
	<-stream.Await(4)
	got, err := stream.Recv(nil, 4)
	require.NoError(t, err)
	require.Len(t, got, 4)
}

func TestStreamRefuses(t *testing.T) {
	e, out, _ := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 2})
	stream, err := e.Stream(out)
	require.NoError(t, err)
	_, err = e.Stream(out)
	require.ErrorContains(t, err, "want one per Env")
	before := positions(t, e)
	pair := []env.Action{env.None, env.None}
	require.ErrorContains(t, stream.Send([]uint32{3}, pair), "environment 3 of 3")
	require.ErrorContains(t, stream.Send([]uint32{1}, pair[:1]), "1 actions for 1 environments, want 2 each")
	require.ErrorContains(t, stream.Send([]uint32{1, 1}, append(pair, pair...)), "environment 1 is named twice")
	var blamed *vec.EnvError
	require.ErrorAs(t, stream.Send([]uint32{2, 1}, []env.Action{env.None, env.None, env.None, 999}), &blamed)
	require.ErrorIs(t, blamed, env.ErrIllegal)
	require.Equal(t, []int{1}, blamed.Envs)
	require.Equal(t, 1, blamed.Row)
	require.Equal(t, before, positions(t, e))
	require.NoError(t, stream.Send([]uint32{1}, pair))
	require.ErrorContains(t, stream.Send([]uint32{0, 1}, append(pair, pair...)), "environment 1 was sent before")
	stream.Settle()
	require.ErrorContains(t, stream.Send([]uint32{1}, pair), "environment 1 was sent before")
	got, err := stream.Recv(nil, 3)
	require.NoError(t, err)
	require.Equal(t, []uint32{1}, got)
	require.NoError(t, stream.Send([]uint32{1, 0}, append(pair, pair...)))
	stream.Drop()
	got, err = stream.Recv(nil, 3)
	require.NoError(t, err)
	require.Empty(t, got)
	require.NoError(t, stream.Send([]uint32{0, 1, 2}, append(append(pair, pair...), pair...)))
	require.NoError(t, e.Close())
	require.ErrorContains(t, stream.Send([]uint32{0}, pair), "closed")

	d, out, _ := start(t, toy.Pick, vec.Config{Envs: 2, StepLimit: 1, Autoreset: vec.Disabled})
	stream, err = d.Stream(out)
	require.NoError(t, err)
	require.NoError(t, stream.Send([]uint32{1}, pair))
	<-stream.Await(1)
	_, err = stream.Recv(nil, 1)
	require.NoError(t, err)
	require.ErrorIs(t, stream.Send([]uint32{0, 1}, append(pair, pair...)), vec.ErrNeedsReset)
}

type failing struct{}

func (*failing) Act(context.Context, env.State, int) (env.Action, error) {
	return env.None, errors.New("out of ideas")
}

// After an agent failed, nothing is stepped until all environments are reset.
func TestStreamAfterFailure(t *testing.T) {
	agents := []vec.AgentFactory{nil, func(uint64) (env.Agent, error) { return &failing{}, nil }}
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 64, Workers: 2, Agents: agents})
	stream, err := e.Stream(out)
	require.NoError(t, err)
	all := make([]uint32, len(actions))
	for i := range all {
		all[i], actions[i] = uint32(i), e.Legal(i, 0, nil)[0]
	}
	require.NoError(t, stream.Send(all, actions))
	<-stream.Await(64)
	_, err = stream.Recv(nil, 64)
	require.ErrorContains(t, err, "out of ideas")
	require.ErrorContains(t, stream.Send(all, actions), "reset all environments")
	sent, _ := stream.InFlight()
	require.Zero(t, sent)
	require.NoError(t, e.SetMixtures([]vec.Mixture{nil, {{Agent: newDie, Weight: 1}}}, nil))
	require.NoError(t, e.Reset(vec.From(3), nil, out))
	require.NoError(t, stream.Send(all[:1], e.Legal(0, 0, nil)[:1]))
	<-stream.Await(1)
	got, err := stream.Recv(nil, 64)
	require.NoError(t, err)
	require.Equal(t, all[:1], got)
}

func TestStreamDoesNotAllocate(t *testing.T) {
	e, out, _ := start(t, toy.Pick, vec.Config{Envs: 32, Workers: 2})
	stream, err := e.Stream(out)
	require.NoError(t, err)
	all, actions, legal := make([]uint32, 32), make([]env.Action, 64), make([]env.Action, 0, 64)
	for i := range all {
		all[i] = uint32(i)
	}
	step := func() {
		for k, i := range all {
			for r := range 2 {
				legal = e.Legal(int(i), r, legal[:0])
				actions[2*k+r] = env.None
				if len(legal) > 0 {
					actions[2*k+r] = legal[0]
				}
			}
		}
		if stream.Send(all, actions) != nil {
			t.Error("a step is refused")
		}
		for all = all[:0]; len(all) < 32; {
			<-stream.Await(1)
			all, _ = stream.Recv(all, 8)
		}
	}
	require.Less(t, testing.AllocsPerRun(100, step), 0.5)
}

// BenchmarkStream is BenchmarkStep through a Stream, in halves.
func BenchmarkStream(b *testing.B) {
	for _, g := range contests() {
		b.Run(g.Name, func(b *testing.B) { benchStream(b, g, vec.Config{Envs: 1024, Illegal: vec.Random}) })
	}
}

func benchStream(b *testing.B, g *env.Game, c vec.Config) {
	e, out, actions := start(b, g, c)
	stream, err := e.Stream(out)
	require.NoError(b, err)
	for i := range actions {
		actions[i] = env.None - 1 // a random one instead
	}
	all := make([]uint32, c.Envs)
	for i := range all {
		all[i] = uint32(i)
	}
	require.NoError(b, stream.Send(all, actions))
	b.ReportAllocs()
	begun, n := time.Now(), 0
	for b.Loop() {
		<-stream.Await(c.Envs / 2)
		all, _ = stream.Recv(all[:0], c.Envs/2)
		if stream.Send(all, actions[:len(all)*e.Rows()]) != nil {
			b.Fatal("a step is refused")
		}
		n += len(all)
	}
	b.ReportMetric(float64(n*e.Rows())/time.Since(begun).Seconds(), "seat-steps/s")
}

// contests are the games without their variants.
func contests() []*env.Game {
	var out []*env.Game
	for _, g := range games.All {
		if !strings.Contains(g.Name, ":") {
			out = append(out, g)
		}
	}
	return out
}
