package tetrisduelbot

import (
	"math/rand"
	"testing"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

func TestLeavesAgainstPositions(t *testing.T) {
	learned := NewLearned(toybot.RandomNet(t, 1, Len, 64, 1))
	for _, e := range []search.LeafEvaluator{NewHand(), learned} {
		next := positions()
		toybot.Leaves(t, tetrisduel.Game, e, func() (env.State, int) {
			s := next()
			return s, s.Mover()
		})
	}
}

// positions returns what makes random positions.
func positions() func() *tetrisduel.State {
	var boards env.Rand
	boards.Seed(5)
	r := rand.New(rand.NewSource(5))
	return func() *tetrisduel.State {
		for {
			s := tetrisduel.Game.New(2).(*tetrisduel.State)
			s.Reset(r.Uint64())
			s.Turn, s.Combo, s.Flag = int16(1+r.Intn(tetrisduel.HalfTurns)), int16(r.Intn(9)), r.Intn(2) > 0
			s.Points = [2]int32{r.Int31n(99), r.Int31n(99)}
			s.Cells = rough(&boards)
			if r.Intn(2) > 0 {
				s.Cells = tetrisduel.Turned(&s.Cells)
			}
			if s.Check() == nil { // the block has room
				return s
			}
		}
	}
}
