package games

import (
	bot "blockyard/agents/bots/blockbattlebot"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// BlockBattle is AI Block Battle by the published rules.
var BlockBattle = merge(New(blockbattle.Game, bot.Entry), Game{
	Worth:  worthInBlockBattle,
	Damage: damageBlockBattle,
	// Pieces change places. The bumps stay, although of several lowest columns they leave out the leftmost.
	Mirror: mirrorColumns(bot.FeatureNames, blockbattle.Width, [2]string{"own S fits", "own Z fits"},
		[2]string{"own J fits", "own L fits"}, [2]string{"own no S", "own no Z"}, [2]string{"own no J", "own no L"}),
	Start: startBlockBattle,
})

// worthInBlockBattle counts the points of this choice only. No feature shows older ones.
func worthInBlockBattle() func(before, after env.State, seat int) float32 {
	hand, states, out := bot.NewHand(), []env.State{new(blockbattle.State)}, make([]float32, 1)
	s := states[0].(*blockbattle.State)
	return func(before, after env.State, seat int) float32 {
		*s = *after.(*blockbattle.State)
		s.Sides[seat].Points -= before.(*blockbattle.State).Sides[seat].Points
		s.Sides[1-seat].Points = 0
		hand.Evaluate(states, seat, out)
		worth := out[0]
		hand.Evaluate(states, 1-seat, out)
		return worth - out[0]
	}
}

// damageBlockBattle advances the clock by up to nine solid rows and fills up to a little over
// half of each board's remaining rows with garbage rows and random cells.
func damageBlockBattle(state env.State, r *env.Rand) {
	s := state.(*blockbattle.State)
	solid := below(r, 10)
	s.Round = int32(solid*blockbattle.SolidInterval + 1 + below(r, blockbattle.SolidInterval))
	for i := range s.Sides {
		d := &s.Sides[i]
		d.Solid = uint8(solid)
		d.Points = int32(below(r, 3) + 3*below(r, 10))
		d.Skips = int32(below(r, 3) / 2)
		room := blockbattle.Height - solid - 4
		rows := below(r, room*6/10+1)
		garbage := below(r, rows+1)
		for k := range rows {
			y := blockbattle.Height - solid - 1 - k
			holes := 1 + k&1 // garbage rows alternate between one and two
			if k >= garbage {
				holes = 2 + below(r, 6)
			}
			for x := range blockbattle.Width {
				d.Cells.Set(x, y)
			}
			for range holes {
				d.Cells[below(r, blockbattle.Width)] &^= 1 << uint(y)
			}
		}
	}
}

// handTerms are the evaluator's terms as features: the feature, the term's weight, and how
// much of the term one of the feature is. Points count as rows sent, 3 each, and the rest.
var handTerms = []handTerm{
	{"own holes", bot.Tuned[bot.Holes], 8},
	{"own covers", bot.Tuned[bot.Covers], 10},
	{"own hole rows", bot.Tuned[bot.HoleRows], 5},
	{"own overhangs", bot.Tuned[bot.Overhangs], 4},
	{"own row edges", bot.Tuned[bot.RowEdges], 30},
	{"own column edges", bot.Tuned[bot.ColEdges], 20},
	{"own wells", bot.Tuned[bot.Wells], 10},
	{"own bumps", bot.Tuned[bot.Bumps], 20},
	{"own cells", bot.Tuned[bot.Cells], 60},
	{"own peak squared", bot.Tuned[bot.Peak], 50},
	{"own spawn lack squared", bot.Tuned[bot.Spawn], 8},
	{"own gap rows open", bot.Tuned[bot.GapOpen], 4},
	{"own gap rows closed", bot.Tuned[bot.GapClosed], 4},
	{"own ready rows", bot.Tuned[bot.Ready], 4},
	{"own four ready", bot.Tuned[bot.Quad], 1},
	{"own T slots", bot.Tuned[bot.Slots], 2},
	{"own T singles", bot.Tuned[bot.Singles], 2},
	{"own double ready", bot.Tuned[bot.Doubles], 1},
	{"own T notches", bot.Tuned[bot.Notches], 2},
	{"own T halves", bot.Tuned[bot.Halves], 1},
	{"own points over 3", bot.Tuned[bot.Points], 2},
	{"rows sent", bot.Tuned[bot.Points]*3 + bot.Tuned[bot.Sent], 3},
	{"own combo", bot.Tuned[bot.Combo], 4},
	{"own few skips", bot.Tuned[bot.Skips], 2},
	{"rows sent into little room", bot.Tuned[bot.Pressed], 30},
	{"opponent buried", bot.Tuned[bot.Buried], 1},
	{"own exposure squared", bot.Tuned[bot.Exposed], 50},
}

// startBlockBattle is the baseline evaluator as a net: within one decision, its values
// differ as the evaluator's do, times handUnit, except for combos beyond 8.
func startBlockBattle(hidden int, seed uint64) (*mlp.Net, error) {
	return startAsHand(bot.FeatureNames, handTerms, hidden, seed)
}
