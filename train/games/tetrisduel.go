package games

import (
	"strings"

	bot "blockyard/agents/bots/tetrisduelbot"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// TetrisDuel is the Tetris duel.
var TetrisDuel = merge(New(tetrisduel.Game, bot.Entry), Game{
	Damage: damageTetrisDuel,
	Mirror: mirrorDuel(),
	Start:  startTetrisDuel,
})

// damageTetrisDuel advances the clock to any half-turn, gives both seats points, and fills the
// middle and some rows at each end except for a few cells per row.
func damageTetrisDuel(state env.State, r *env.Rand) {
	s := state.(*tetrisduel.State)
	fresh := *s
	for {
		*s = fresh
		s.Turn = int16(1 + below(r, tetrisduel.HalfTurns))
		played := below(r, int(s.Turn)/4+1)
		for seat := range s.Points {
			s.Points[seat] = int32(below(r, played/2+1) + below(r, 6))
		}
		s.Combo = int16(below(r, 4) * below(r, 2))
		s.Flag = s.Turn%2 == 0 && below(r, 2) == 0
		from := tetrisduel.Peace - below(r, tetrisduel.Peace-3)
		to := tetrisduel.Reachable + below(r, tetrisduel.Peace-3)
		for y := from; y < to; y++ {
			for x := range tetrisduel.Width {
				s.Cells.Set(x, y)
			}
			for range 1 + below(r, 5) {
				s.Cells[below(r, tetrisduel.Width)] &^= 1 << uint(y)
			}
		}
		if s.Check() == nil {
			return
		}
	}
}

// mirrorDuel is mirrorColumns that also exchanges the kinds of blocks: J and L, S and Z.
func mirrorDuel() func([]float32) {
	var pairs [][2]string
	for _, name := range bot.FeatureNames {
		base, last := name[:len(name)-1], name[len(name)-1:]
		if other, ok := map[string]string{"J": "L", "S": "Z"}[last]; ok && strings.HasPrefix(name, "block ") {
			pairs = append(pairs, [2]string{name, base + other})
		}
	}
	return mirrorColumns(bot.FeatureNames, tetrisduel.Width, pairs...)
}

// duelBoard are the terms of the board. The evaluator takes the difference of the two
// seats' halves, so that each term stands for two features.
var duelBoard = []handTerm{
	{"holes", bot.Tuned[bot.Holes], 10},
	{"covers", bot.Tuned[bot.Covers], 10},
	{"row edges", bot.Tuned[bot.RowEdges], 30},
	{"column edges", bot.Tuned[bot.ColEdges], 20},
	{"wells", bot.Tuned[bot.Wells], 10},
	{"bumps", bot.Tuned[bot.Bumps], 20},
	{"open", bot.Tuned[bot.Open], 100},
	{"heap", bot.Tuned[bot.Heap], 500},
	{"peak", bot.Tuned[bot.Peak], 30},
	{"danger", bot.Tuned[bot.Danger], 10},
	{"clean lacking 1", bot.Tuned[bot.Clean1], 2},
	{"clean lacking 2", bot.Tuned[bot.Clean2], 2},
	{"clean lacking 3", bot.Tuned[bot.Clean3], 2},
	{"clean lacking 4", bot.Tuned[bot.Clean4], 2},
	{"calm lacking 1", bot.Tuned[bot.Calm], 2},
	{"kinds that take", bot.Tuned[bot.Kinds], 4},
}

// duelPromise are the other terms.
var duelPromise = []handTerm{
	{"lead at the end", bot.Tuned[bot.Lead], 20},
	{"opponent gains in 0 turns", -bot.Tuned[bot.Now], 3},
	{"opponent takes with combo", -bot.Tuned[bot.Now] - 2*bot.Tuned[bot.Carry], 5},
	{"own gains in 0 turns", bot.Tuned[bot.Next], 3},
	{"own takes with combo", bot.Tuned[bot.Next], 5},
	{"opponent gains in 1 turns", -bot.Tuned[bot.Later], 3},
	{"opponent takes later with combo", -bot.Tuned[bot.Later], 5},
	{"combo", bot.Tuned[bot.Carry], 5},
}

// startTetrisDuel is the baseline evaluator as a net: its values are the evaluator's times handUnit, except for the
// growing weight of the lead in the last half-turns and for leads beyond the range of the features.
func startTetrisDuel(hidden int, seed uint64) (*mlp.Net, error) {
	terms := duelPromise
	for _, t := range duelBoard {
		own, opponent := t, t
		own.feature, opponent.feature, opponent.weight = "own "+t.feature, "opponent "+t.feature, -t.weight
		terms = append(terms, own, opponent)
	}
	return startAsHand(bot.FeatureNames, terms, hidden, seed)
}
