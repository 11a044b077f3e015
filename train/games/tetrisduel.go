package games

import (
	"strings"

	bot "blockyard/agents/bots/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// TetrisDuel is how the Tetris duel is trained.
var TetrisDuel = tune(New(tetrisduel.Game, bot.Entry), func(t *Game) {
	t.Damage, t.Mirror = damageTetrisDuel, mirrorDuel()
})

// damageTetrisDuel sets any half-turn and points, and fills the middle, and rows at each end, but for a few cells.
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
