package match

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blocking"
)

// TestProve: a record proves the points and ranks of its game, and no others. Where the rules decide nothing, the
// contest may, if it has a reason.
func TestProve(t *testing.T) {
	f := must(bots.New(blocking.Game, bots.Foreign("random", nil)))
	played := func(enough func(env.State) bool) *record.Record {
		g := Game{Rules: blocking.Game, Seed: 3, Enough: enough}
		for k := range uint64(3) {
			a := must(f(k))
			g.Names, g.Agents = append(g.Names, "random"), append(g.Agents, a)
		}
		rec := must(Play(t.Context(), g))
		return rec
	}
	never := func(int, int) bool { return false }
	rec := played(nil)
	points, ranks := rec.Scores, contest.Ranks(rec.Scores)
	require.NoError(t, Prove(blocking.Game, rec, points, ranks, never))
	for says, c := range map[string][2][]int{
		"points, ":      {{points[0] + 1, points[1], points[2]}, ranks},
		"the ranks ":    {points, {ranks[1], ranks[0], ranks[2]}},
		"3 seats, want": {points[:2], ranks},
		"ranks 1 and 1": {points, {1, 1, 1}},
	} {
		err := Prove(blocking.Game, rec, c[0], c[1], func(int, int) bool { return true })
		require.ErrorContains(t, err, says)
	}
	other := *rec
	other.Scores = slices.Clone(rec.Scores)
	other.Scores[0]++
	require.ErrorIs(t, Prove(blocking.Game, &other, points, ranks, never), record.ErrDiffers)

	steps := 0
	rec = played(func(env.State) bool { steps++; return steps > 9 })
	require.True(t, rec.Stopped)
	require.NoError(t, Prove(blocking.Game, rec, rec.Scores, []int{1, 1, 1}, never))
	require.ErrorContains(t, Prove(blocking.Game, rec, rec.Scores, []int{1, 1, 2}, never), "have the ranks 1 and 2")
	require.NoError(t, Prove(blocking.Game, rec, rec.Scores, []int{1, 1, 2}, func(loser, _ int) bool { return loser == 2 }))
}
