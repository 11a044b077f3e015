package games

import (
	"blockyard/agents/bots/dropbloxbot"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// Dropblox is trained on the plans of a narrow beam search: boards are worth something else to one of one block.
var Dropblox = tune(New(dropblox.Game, dropbloxbot.Entry), func(t *Game) {
	t.Damage, t.Mirror = raiseDropblox, mirrorColumns(dropbloxbot.FeatureNames, dropblox.Cols)
	t.Solo = &Solo{Discount: 1, Unit: dropbloxbot.Unit, Planner: newDropbloxPlanner}
})

// newDropbloxPlanner plans for all known blocks.
func newDropbloxPlanner(net *mlp.Net, width int) Plan {
	var rater dropbloxbot.Rater = &dropbloxbot.Hand{Weights: dropbloxbot.Classic}
	if net != nil {
		rater = dropbloxbot.NewLearned(net)
	}
	beam := dropbloxbot.NewBeam(rater)
	return func(s env.State, x []float32) (env.Action, int, bool) {
		at, _, ok := beam.Choose(dropbloxbot.Of(s.(*dropblox.State)), width, search.Clock{})
		if !ok {
			return env.None, 0, false
		}
		leaf, ok := beam.Leaf()
		if !ok {
			return at.Action(), 0, false
		}
		dropbloxbot.Features(&leaf.Field, int(leaf.Points), x)
		return at.Action(), int(leaf.Points), true
	}
}

// raiseDropblox starts at a score of 250 to 649, with its blocks, on up to 12 rows that lack a few squares each.
func raiseDropblox(state env.State, r *env.Rand) {
	s := state.(*dropblox.State)
	s.Points = int32(250 + below(r, 400))
	for k := range s.Blocks {
		s.Blocks[k] = uint16(dropblox.Draw(uniform(r), uniform(r), int(s.Points)))
	}
	gaps, well := 1+below(r, 4), below(r, dropblox.Cols)
	for k := range below(r, 13) {
		i := dropblox.Rows - 1 - k
		row := [dropblox.Cols]uint16{}
		for j := range row {
			row[j] = 1
		}
		row[well] = 0
		for range below(r, gaps) {
			row[below(r, dropblox.Cols)] = 0
		}
		for j, v := range row {
			if s.Cells[i][j] = v; v != 0 {
				s.Taken[j] |= 1 << uint(i)
			}
		}
	}
}

func uniform(r *env.Rand) float64 { return float64(r.Next()>>11) / (1 << 53) }
