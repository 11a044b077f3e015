package tetrisduelbot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// The tuned weights beat plain ones of points, heights and holes, the reply search being
// the same.
func TestHandBeatsPlainWeights(t *testing.T) {
	player := func(w Weights) match.Player {
		return match.Player{Name: "hand", New: func(uint64) (env.Agent, error) {
			return search.New(tetrisduel.Game, &Hand{Weights: w}, search.Options{})
		}}
	}
	players := []match.Player{player(Tuned), player(Weights{Lead: 1, Holes: -2, Heap: -0.1})}
	table := match.Match{Rules: tetrisduel.Game, Units: 4, Seed: 20, Players: players}
	got, err := table.Play(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, got.Meetings[0].Wins, 7, got)
}
