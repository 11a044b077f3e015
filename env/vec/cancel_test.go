package vec_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

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
