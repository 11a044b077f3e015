package phases

import (
	"testing"

	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/train/games"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// takes is a turn-based game in which what counts is how much each seat took: an
// obvious choice for anyone who learns from results, and for a net that knows no more of
// an afterstate than what was taken last, nothing but a choice.
var takes = &games.Game{
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

// start begins a run of g in which an actor has the whole budget, and returns its learner and
// a policy.
func start(t *testing.T, g *games.Game, from *mlp.Net) (*selfplay.Run, *actorLearner, *actorPolicy) {
	t.Helper()
	c := Default()
	c.Hidden, c.Batch, c.Games, c.Rounds, c.Iterations, c.Mean = []int{8}, 64, 16, 48, 60, 1
	c.Explore, c.Late, c.Gates, c.DeepWidth, c.Warm = 0.1, 0.3, 2, 2, 0
	c.Temperature, c.ActorBatch, c.ActorFrom, c.ActorTo = 0.2, 64, 3e-3, 3e-3
	r, err := selfplay.New(g, &c, from, 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	r.Learner, err = c.Next(r, r.Learner)
	require.NoError(t, err)
	l := r.Learner.(*actorLearner)
	ro := l.Rollout()
	policies, err := r.Policies(&ro)
	require.NoError(t, err)
	return r, l, policies[0].(*actorPolicy)
}
