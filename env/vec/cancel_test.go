package vec_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// A canceller counts how often the agents of an Env are asked, and cancels at one of these choices. Those that are
// asked meanwhile wait for that: otherwise a busy machine could let them play on before the context has ended.
type canceller struct {
	asked, at atomic.Int64
	ctx       context.Context
	cancel    context.CancelFunc
}

func newCanceller(t *testing.T) *canceller {
	ctx, cancel := context.WithCancel(t.Context())
	return &canceller{ctx: ctx, cancel: cancel}
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
// what these answer. Whatever is called after the end changes nothing.
func TestCancelled(t *testing.T) {
	first := func(a env.Agent) []vec.AgentFactory { return []vec.AgentFactory{always(a)} }
	second := func(a env.Agent) []vec.AgentFactory { return []vec.AgentFactory{nil, always(a)} }
	for name, c := range map[string]struct {
		g      *env.Game
		agents func(env.Agent) []vec.AgentFactory
		most   int  // positions that may change
		broken bool // the Env needs a reset
		do     func(e *vec.Env, a *canceller, actions []env.Action, out *vec.Batch) error
	}{
		"step": {toy.Pick, second, 102, true, func(e *vec.Env, _ *canceller, actions []env.Action, out *vec.Batch) error {
			return e.Step(actions, out)
		}},
		"stream": {toy.Pick, second, 102, true, func(e *vec.Env, _ *canceller, actions []env.Action, out *vec.Batch) error {
			stream := streamOf(t, e, out)
			all := numbers(500)
			require.NoError(t, stream.Send(all, actions))
			<-stream.Await(500)
			_, err := stream.Recv(nil, 500)
			require.Error(t, stream.Send(all, actions))
			return err
		}},
		"reset, in which agents play first": {toy.Turns, first, 500, true,
			func(e *vec.Env, _ *canceller, _ []env.Action, out *vec.Batch) error {
				return e.Reset(vec.From(9), nil, out)
			}},
		"each": {toy.Pick, second, 0, false, func(e *vec.Env, a *canceller, _ []env.Action, _ *vec.Batch) error {
			return e.Each(func(int, int) { a.count() })
		}},
		"nothing": {toy.Pick, second, 0, false, func(_ *vec.Env, a *canceller, _ []env.Action, _ *vec.Batch) error {
			a.cancel()
			return a.ctx.Err()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newCanceller(t)
			e, out, actions := start(t, c.g, vec.Config{Envs: 500, Workers: 3, Context: a.ctx, Agents: c.agents(a)})
			require.NoError(t, e.Sample(actions))
			snap, before := snapshot(t, e, 3), states(e)
			a.at.Store(a.asked.Load() + 100)
			require.ErrorIs(t, c.do(e, a, actions, out), context.Canceled)
			require.LessOrEqual(t, a.asked.Load(), a.at.Load()+2, "one choice for each of the other workers")
			after, asked := states(e), a.asked.Load()
			require.LessOrEqual(t, changed(before, after), c.most)
			_, err := e.Snapshot(0, nil)
			for k, err := range []error{err, e.Step(actions, out), e.Reset(vec.From(2), nil, out), e.Restore(0, snap), e.Observe(out),
				e.CloneAll([]int{0}, []int{1}), e.Sample(actions), e.Each(func(int, int) { a.asked.Add(1) })} {
				require.ErrorIs(t, err, context.Canceled, "call %d", k)
				if !c.broken {
					require.NotContains(t, err.Error(), "reset all environments")
				}
			}
			require.Equal(t, asked, a.asked.Load())
			require.Zero(t, changed(after, states(e)))
			require.NoError(t, e.Close())
		})
	}
}

// A Replay ends between two steps of one log.
func TestCancelledReplay(t *testing.T) {
	a := newCanceller(t)
	c := vec.Config{Envs: 1, Agents: []vec.AgentFactory{nil, always(a)}}
	e, _, _ := start(t, toy.Pick, c)
	logs, _ := logged(t, e, 200)
	c.Context = a.ctx
	again, out, _ := start(t, toy.Pick, c)
	a.asked.Store(0)
	a.at.Store(60)
	require.ErrorIs(t, again.Replay(logs, out), context.Canceled)
	require.Equal(t, int64(60), a.asked.Load())
}
