package vec_test

import (
	"context"
	"errors"
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

// streamOf starts the Stream of e.
func streamOf(e *vec.Env, out *vec.Batch) *vec.Stream { return envtest.Must(e.Stream(out)) }

// numbers lists the numbers below n.
func numbers(n int) (all []uint32) {
	for i := range n {
		all = append(all, uint32(i))
	}
	return all
}

// randomly returns actions that stand for random ones under vec.Random.
func randomly(n int) []env.Action { return slices.Repeat([]env.Action{env.None - 1}, n) }

// received waits until so many environments are done, and returns all that are.
func received(s *vec.Stream, n int) []uint32 {
	<-s.Await(n)
	return envtest.Must(s.Recv(nil, 1<<20))
}

// While the agent of one environment thinks, the others are stepped as often as the caller likes.
func TestStreamWaitsForNobody(t *testing.T) {
	gate := make(chan struct{})
	var made atomic.Int32
	agents := []vec.AgentFactory{nil, func(seed uint64) (env.Agent, error) {
		if made.Add(1) > 1 {
			return newDie(seed)
		}
		return acting(func(_ context.Context, s env.State, seat int) (env.Action, error) {
			<-gate
			return s.Legal(seat, nil)[0], nil
		}), nil
	}}
	e, out, _ := start(t, toy.Pick, vec.Config{Envs: 4, Workers: 2, Agents: agents, Illegal: vec.Random})
	stream := streamOf(e, out)
	require.NoError(t, stream.Send(numbers(4), randomly(4)))
	others := received(stream, 3)
	for range 20 {
		require.Len(t, others, 3)
		require.NoError(t, stream.Send(others, randomly(3)))
		require.ElementsMatch(t, others, received(stream, 3))
	}
	close(gate)
	require.Len(t, received(stream, 1), 1)
}

func TestStreamRefuses(t *testing.T) {
	e, out, _ := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 2})
	stream := streamOf(e, out)
	require.ErrorContains(t, envtest.Failed(e.Stream(out)), "want one per Env")
	before := positions(e)
	pair := []env.Action{env.None, env.None}
	require.ErrorContains(t, stream.Send([]uint32{3}, pair), "environment 3 of 3")
	require.ErrorContains(t, stream.Send([]uint32{1}, pair[:1]), "1 actions for 1 environments, want 2 each")
	require.ErrorContains(t, stream.Send([]uint32{1, 1}, append(pair, pair...)), "environment 1 is named twice")
	var blamed *vec.EnvError
	require.ErrorAs(t, stream.Send([]uint32{2, 1}, []env.Action{env.None, env.None, env.None, 999}), &blamed)
	require.ErrorIs(t, blamed, env.ErrIllegal)
	require.Equal(t, []int{1}, blamed.Envs)
	require.Equal(t, 1, blamed.Row)
	require.Equal(t, before, positions(e))
	require.NoError(t, stream.Send([]uint32{1}, pair))
	require.ErrorContains(t, stream.Send([]uint32{0, 1}, append(pair, pair...)), "environment 1 was sent before")
	stream.Settle()
	require.ErrorContains(t, stream.Send([]uint32{1}, pair), "environment 1 was sent before")
	require.Equal(t, []uint32{1}, envtest.Must(stream.Recv(nil, 3)))
	require.NoError(t, stream.Send([]uint32{1, 0}, append(pair, pair...)))
	stream.Drop()
	require.Empty(t, envtest.Must(stream.Recv(nil, 3)))
	require.NoError(t, stream.Send([]uint32{0, 1, 2}, append(append(pair, pair...), pair...)))
	require.NoError(t, e.Close())
	require.ErrorContains(t, stream.Send([]uint32{0}, pair), "closed")

	d, out, _ := start(t, toy.Pick, vec.Config{Envs: 2, StepLimit: 1, Autoreset: vec.Disabled})
	stream = streamOf(d, out)
	require.NoError(t, stream.Send([]uint32{1}, pair))
	received(stream, 1)
	require.ErrorIs(t, stream.Send([]uint32{0, 1}, append(pair, pair...)), vec.ErrNeedsReset)
}

func TestStreamAllocatesNothing(t *testing.T) {
	e, out, _ := start(t, toy.Pick, vec.Config{Envs: 32, Workers: 2, Illegal: vec.Random})
	s, all, actions := streamOf(e, out), numbers(32), randomly(64)
	allocatesNothing(t, func() error {
		err := s.Send(all, actions)
		for all = all[:0]; len(all) < 32 && err == nil; {
			<-s.Await(1)
			all, err = s.Recv(all, 8)
		}
		return err
	})
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

// A canceller counts how often the agents of an Env are asked, and cancels at one of these choices. Those that are
// asked meanwhile wait for that: otherwise a busy machine could let them play on before the context has ended.
type canceller struct {
	asked, at atomic.Int64
	ctx       context.Context
	cancel    context.CancelFunc
	e         *vec.Env
	actions   []env.Action
	out       *vec.Batch
	log       vec.Log // of 200 steps of environment 0
}

func (c *canceller) Act(_ context.Context, s env.State, seat int) (env.Action, error) {
	c.count()
	return s.Legal(seat, nil)[0], nil
}

func (c *canceller) count() {
	switch n, at := c.asked.Add(1), c.at.Load(); {
	case n == at:
		c.cancel()
	case at > 0 && n > at:
		<-c.ctx.Done()
	}
}

// states returns copies of all positions, also of an Env that cannot be used any more.
func states(e *vec.Env) (all []toy.State) {
	for i := range e.Config().Envs {
		all = append(all, *e.State(i).(*toy.State))
	}
	return all
}

// changed counts the positions that differ.
func changed(a, b []toy.State) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// When the context ends, what is under way asks no agent more, apart from those that are choosing, and does not play
// what these answer. A Replay ends between two steps of one log. Whatever is called after the end changes nothing.
func TestCancelled(t *testing.T) {
	for name, c := range map[string]struct {
		g      *env.Game
		seat   int   // of the agents
		others int64 // choices of other workers that may follow
		most   int   // positions that may change
		broken bool  // the Env needs a reset
		do     func(x *canceller) error
	}{
		"step":   {toy.Pick, 1, 2, 102, true, func(x *canceller) error { return x.e.Step(x.actions, x.out) }},
		"stream": {toy.Pick, 1, 2, 102, true, (*canceller).stream},
		"replay": {toy.Pick, 1, 0, 1, true, func(x *canceller) error { return x.e.Replay([]vec.Log{x.log}, x.out) }},
		"reset, in which agents play first": {toy.Turns, 0, 2, 500, true,
			func(x *canceller) error { return x.e.Reset(vec.From(9), nil, x.out) }},
		"each": {toy.Pick, 1, 2, 0, false, func(x *canceller) error { return x.e.Each(func(int, int) { x.count() }) }},
		"nothing": {toy.Pick, 1, 0, 0, false, func(x *canceller) error {
			x.cancel()
			return x.ctx.Err()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			x, agents := &canceller{}, make([]vec.AgentFactory, 2)
			x.ctx, x.cancel = context.WithCancel(t.Context())
			agents[c.seat] = always(x)
			if name == "replay" {
				one, _, _ := start(t, c.g, vec.Config{Envs: 1, Agents: agents})
				logs, _ := logged(t, one, 200)
				x.log = logs[0]
			}
			e, out, actions := start(t, c.g, vec.Config{Envs: 500, Workers: 3, Context: x.ctx, Agents: agents})
			x.e, x.out, x.actions = e, out, actions
			require.NoError(t, e.Sample(actions))
			snap, before := envtest.Must(e.Snapshot(3, nil)), states(e)
			x.at.Store(x.asked.Load() + 100)
			require.ErrorIs(t, c.do(x), context.Canceled)
			require.LessOrEqual(t, x.asked.Load(), x.at.Load()+c.others)
			after, asked := states(e), x.asked.Load()
			require.LessOrEqual(t, changed(before, after), c.most)
			_, err := e.Snapshot(0, nil)
			for k, err := range []error{err, e.Step(actions, out), e.Reset(vec.From(2), nil, out), e.Restore(0, snap), e.Observe(out),
				e.CloneAll([]int{0}, []int{1}), e.Sample(actions), e.Each(func(int, int) { x.asked.Add(1) })} {
				require.ErrorIs(t, err, context.Canceled, "call %d", k)
				if !c.broken {
					require.NotContains(t, err.Error(), "reset all environments")
				}
			}
			require.Equal(t, asked, x.asked.Load())
			require.Zero(t, changed(after, states(e)))
			require.NoError(t, e.Close())
		})
	}
}

// stream steps all environments through a Stream, which takes no more steps after the end.
func (x *canceller) stream() error {
	s := streamOf(x.e, x.out)
	if err := s.Send(numbers(500), x.actions); err != nil {
		return err
	}
	<-s.Await(500)
	_, err := s.Recv(nil, 500)
	if s.Send(numbers(500), x.actions) == nil {
		return errors.New("a step begins after the end")
	}
	return err
}

// An uneven agent answers after 0.5 ms, and every eighth time on average after 16 ms, like a search that is
// sometimes deep. It sleeps, so that the comparison does not depend on what else the machine does.
func newUneven(seed uint64) (env.Agent, error) {
	a := die{env.Rand{Word: seed}}
	return acting(func(ctx context.Context, s env.State, seat int) (env.Action, error) {
		pause := 500 * time.Microsecond
		if env.Mix(a.rng.Word)%8 == 0 {
			pause = 16 * time.Millisecond
		}
		time.Sleep(pause)
		return a.Act(ctx, s, seat)
	}), nil
}

// BenchmarkUneven steps 16 environments with uneven agents on 16 goroutines: all together with Step, and through a
// Stream that receives 4 at a time. An operation is 16 steps of single environments.
func BenchmarkUneven(b *testing.B) {
	c := vec.Config{Envs: 16, Workers: 16, Agents: []vec.AgentFactory{nil, newUneven}, Illegal: vec.Random}
	actions := randomly(c.Envs)
	b.Run("step", func(b *testing.B) {
		e, out, _ := start(b, toy.Pick, c)
		for b.Loop() {
			require.NoError(b, e.Step(actions, out))
		}
	})
	b.Run("stream", func(b *testing.B) {
		e, out, _ := start(b, toy.Pick, c)
		stream, some := streamOf(e, out), numbers(c.Envs)
		require.NoError(b, stream.Send(some, actions))
		for b.Loop() {
			for range 4 {
				<-stream.Await(4)
				some = envtest.Must(stream.Recv(some[:0], 4))
				require.NoError(b, stream.Send(some, actions[:len(some)]))
			}
		}
	})
}
