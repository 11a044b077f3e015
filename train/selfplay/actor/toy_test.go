package actor

import (
	"context"
	"testing"

	"blockyard/agents/features"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/lambda"
	"blockyard/train/task"

	"github.com/stretchr/testify/require"
)

// takes is a turn-based game in which what counts is how much each seat took: an
// obvious choice for anyone who learns from results, and for a net that knows no more of
// an afterstate than what was taken last, nothing but a choice.
var takes = &task.Game{
	Rules:    toy.Turns,
	Features: []string{"took 1", "took 2", "took 3", "cards"},
	Own:      3,
	Reader:   func() features.Reader { return takesReader{} },
	Hand:     func() search.Evaluator { return nil },
	Chance:   func(s env.State, seat int) float32 { return float32(s.Score(seat)) / toy.Target },
	Damage:   func(env.State, *env.Rand) {},
}

type takesReader struct{}

func (takesReader) Shared(s env.State, _ int, out []float32) {
	out[0] = float32(s.(*toy.State).Played) / toy.Length
}

func (takesReader) Own(s env.State, seat int, out []float32) {
	clear(out)
	if n := s.(*toy.State).Last[seat]; n > 0 {
		out[n-1] = 1
	}
}

// whole is an algorithm in which an actor has the whole budget.
type whole struct {
	actor  Config
	lambda lambda.Config
}

func (w whole) Start(r *selfplay.Run, from *mlp.Net) (selfplay.Learner, error) {
	critic, err := lambda.New(r, w.lambda, from)
	if err != nil {
		return nil, err
	}
	return New(r, w.actor, critic)
}

func (w whole) Next(_ *selfplay.Run, last selfplay.Learner) (selfplay.Learner, error) {
	return last, nil
}
func (w whole) Restore(*selfplay.Run, *selfplay.State) (selfplay.Learner, error) { return nil, nil }
func (w whole) Gate(context.Context, *selfplay.Run, *selfplay.Point) (bool, error) {
	return true, nil
}
func (w whole) GameStream() uint64                    { return 1 }
func (w whole) Notes(*selfplay.Run) map[string]string { return nil }
func (w whole) Config() any                           { return nil }
func (w whole) Options() selfplay.Options             { return smallOptions }
func (w whole) Check(*task.Game) error                { return nil }

var smallOptions = selfplay.Options{
	Seed: 1, Hidden: []int{8}, Batch: 64, Games: 16, Rounds: 48, Iterations: 60,
	Mean: 1, Explore: 0.1, Late: 0.3, Gates: 2,
}

var smallWhole = whole{
	Config{Actor: 1, Temperature: 0.2, Step: 1, ActorBatch: 64, ActorFrom: 3e-3, ActorTo: 3e-3},
	lambda.Config{Lambda: 0.9, DeepWidth: 2},
}

// start begins a run of g, and returns its learner and a policy.
func start(t *testing.T, g *task.Game, from *mlp.Net) (*selfplay.Run, *Learner, *policy) {
	t.Helper()
	r, err := selfplay.New(g, smallWhole, from, 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	l := r.Learner.(*Learner)
	l.Rollout()
	return r, l, l.policies[0]
}
