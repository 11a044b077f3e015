package selfplay

import (
	"context"
	"sync/atomic"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/task"

	"github.com/stretchr/testify/require"
)

// A quitter is a stub whose policies cancel a context at one of their choices.
type quitter struct {
	stub
	chosen, left atomic.Int64
	cancel       context.CancelFunc
}

func (q *quitter) Start(*Run, *mlp.Net) (Learner, error)       { return q, nil }
func (q *quitter) Rollout() Rollout                            { return Rollout{Net: q.net, Steps: 1000} }
func (q *quitter) Policy(*task.Game, *Rollout) (Policy, error) { return quitterPolicy{q: q}, nil }

type quitterPolicy struct {
	stubPolicy
	q *quitter
}

func (p quitterPolicy) Choose(slot *Slot, seat int) env.Action {
	p.q.chosen.Add(1)
	if p.q.left.Add(-1) == 0 {
		p.q.cancel()
	}
	return p.stubPolicy.Choose(slot, seat)
}

// A rollout whose context ends makes only the choices of the steps that have begun, and the slots stand where they
// stood.
func TestARolloutHearsItsContext(t *testing.T) {
	q := &quitter{}
	q.net, _ = task.BlockBattle.Start(2, 1)
	q.options = Options{Seed: 1, Games: 20, Iterations: 5, Gates: 1}
	r, err := New(task.BlockBattle, q, nil, 3)
	require.NoError(t, err)
	r.now = q.now
	ctx, cancel := context.WithCancel(t.Context())
	q.cancel = cancel
	before := stands(t, r)
	q.left.Store(100)
	require.NoError(t, r.Go(ctx, func(bool) error { t.Fatal("a rollout cut short counts for nothing"); return nil }))
	require.LessOrEqual(t, q.chosen.Load(), int64(100+3*env.MaxSeats))
	require.Equal(t, before, stands(t, r))
	require.Zero(t, r.Counts.Moves)
}

func stands(t *testing.T, r *Run) (all []GameSlot) {
	for _, s := range r.Slots {
		x, err := s.Save()
		require.NoError(t, err)
		all = append(all, x)
	}
	return all
}
