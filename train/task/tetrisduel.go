package task

import (
	"strings"

	"blockyard/agents/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// TetrisDuel is the Tetris duel.
var TetrisDuel = merge(New(tetrisduel.Game, tetrisduelbot.Entry), Game{
	Worth:  worthInTetrisDuel,
	Damage: damageTetrisDuel,
	Mirror: mirrorDuel(),
	Start:  startTetrisDuel,
})

// worthInTetrisDuel is the baseline evaluator's worth: a gain for one seat is the other's loss,
// and the features show everything it reads.
func worthInTetrisDuel() func(before, after env.State, seat int) float32 {
	hand, states, out := tetrisduelbot.NewHand(), make([]env.State, 1), make([]float32, 1)
	return func(_, after env.State, seat int) float32 {
		states[0] = after
		hand.Evaluate(states, seat, out)
		return out[0]
	}
}

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

// mirrorDuel is mirrorColumns, and exchanges the block kinds J and L, and S and Z.
func mirrorDuel() func([]float32) {
	columns := mirrorColumns(tetrisduelbot.FeatureNames, tetrisduel.Width)
	index := map[string]int{}
	for i, n := range tetrisduelbot.FeatureNames {
		index[n] = i
	}
	var swap [][2]int
	for n, i := range index {
		base, last := n[:len(n)-1], n[len(n)-1:]
		if other, ok := map[string]string{"J": "L", "S": "Z"}[last]; ok && strings.HasPrefix(n, "block ") {
			swap = append(swap, [2]int{i, index[base+other]})
		}
	}
	return func(row []float32) {
		columns(row)
		for _, p := range swap {
			row[p[0]], row[p[1]] = row[p[1]], row[p[0]]
		}
	}
}
