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

// cancellable starts an Env of 500 environments whose seat 1 has a canceller.
func cancellable(t *testing.T) (*vec.Env, *vec.Batch, []env.Action, *canceller) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &canceller{ctx: ctx, cancel: cancel}
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 500, Workers: 3, Context: ctx,
		Agents: []vec.AgentFactory{nil, func(uint64) (env.Agent, error) { return a, nil }}})
	require.NoError(t, e.Sample(actions))
	return e, out, actions, a
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

// A step whose context ends asks no agent more, apart from those that are choosing, and does not play what these
// answer. A step or any other call after the end changes nothing.
func TestCancelledStep(t *testing.T) {
	e, out, actions, a := cancellable(t)
	before := states(e)
	a.at.Store(a.asked.Load() + 100)
	require.ErrorIs(t, e.Step(actions, out), context.Canceled)
	require.LessOrEqual(t, a.asked.Load(), a.at.Load()+2, "one choice for each of the other workers")
	half := states(e)
	require.Less(t, changed(before, half), 103)
	asked := a.asked.Load()
	_, err := e.Snapshot(0, nil)
	for k, err := range []error{err, e.Step(actions, out), e.Reset(vec.From(2), nil, out), e.Observe(out), e.CloneAll([]int{0}, []int{1}),
		e.Sample(actions), e.Each(func(int, int) { a.asked.Add(1) })} {
		require.Error(t, err, "call %d", k)
	}
	require.Equal(t, asked, a.asked.Load())
	require.Zero(t, changed(half, states(e)))
	require.NoError(t, e.Close())
}

// An Env whose context has ended before a step is as it was.
func TestStepAfterTheEnd(t *testing.T) {
	e, out, actions, a := cancellable(t)
	snapshot, err := e.Snapshot(3, nil)
	require.NoError(t, err)
	before, asked := states(e), a.asked.Load()
	a.cancel()
	for k, err := range []error{e.Step(actions, out), e.Reset(vec.From(2), nil, out), e.Restore(0, snapshot),
		e.Sample(actions), e.Each(func(int, int) { a.asked.Add(1) })} {
		require.ErrorIs(t, err, context.Canceled, "call %d", k)
		require.NotContains(t, err.Error(), "reset all environments")
	}
	require.Equal(t, asked, a.asked.Load())
	require.Zero(t, changed(before, states(e)))
}

// Each calls nobody more after the end.
func TestCancelledEach(t *testing.T) {
	e, _, _, a := cancellable(t)
	a.at.Store(50)
	a.asked.Store(0)
	require.ErrorIs(t, e.Each(func(int, int) { a.count() }), context.Canceled)
	require.LessOrEqual(t, a.asked.Load(), int64(52))
}

// A reset, in which agents may play first, ends as a step does.
func TestCancelledReset(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &canceller{ctx: ctx, cancel: cancel}
	first := func(uint64) (env.Agent, error) { return a, nil }
	e, out, _ := start(t, toy.Turns, vec.Config{Envs: 500, Workers: 3, Context: ctx,
		Agents: []vec.AgentFactory{first}})
	a.at.Store(a.asked.Load() + 100)
	require.ErrorIs(t, e.Reset(vec.From(9), nil, out), context.Canceled)
	require.LessOrEqual(t, a.asked.Load(), a.at.Load()+2)
}

// A Stream plays no more steps after the end.
func TestCancelledStream(t *testing.T) {
	e, out, actions, a := cancellable(t)
	stream, err := e.Stream(out)
	require.NoError(t, err)
	all := make([]uint32, 500)
	for i := range all {
		all[i] = uint32(i)
	}
	a.at.Store(a.asked.Load() + 100)
	require.NoError(t, stream.Send(all, actions))
	<-stream.Await(500)
	_, err = stream.Recv(nil, 500)
	require.ErrorIs(t, err, context.Canceled)
	require.LessOrEqual(t, a.asked.Load(), a.at.Load()+2)
	require.Error(t, stream.Send(all, actions))
}

// A Replay ends between two steps of one log.
func TestCancelledReplay(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &canceller{ctx: ctx, cancel: cancel}
	c := vec.Config{Envs: 1, Agents: []vec.AgentFactory{nil, func(uint64) (env.Agent, error) { return a, nil }}}
	e, _, _ := start(t, toy.Pick, c)
	logs, _ := logged(t, e, 200)
	c.Context = ctx
	again, out, _ := start(t, toy.Pick, c)
	a.asked.Store(0)
	a.at.Store(60)
	require.ErrorIs(t, again.Replay(logs, out), context.Canceled)
	require.Equal(t, int64(60), a.asked.Load())
}
