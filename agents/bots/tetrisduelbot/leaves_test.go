package tetrisduelbot

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/tetrisduel"
)

// The values of leaves are the bits of the values of the positions they stand for; only finished games are left out.
func TestLeavesAgainstPositions(t *testing.T) {
	learned := NewLearned(toybot.RandomNet(t, 1, Len, 64, 1))
	for name, e := range map[string]search.LeafEvaluator{"hand": NewHand(), "learned": learned} {
		var boards env.Rand
		boards.Seed(5)
		r := rand.New(rand.NewSource(5))
		leaves, lost := 0, 0
		for leaves < envtest.Many(10_000, 100_000) {
			s := tetrisduel.Game.New(2).(*tetrisduel.State)
			s.Reset(r.Uint64())
			s.Turn, s.Combo, s.Flag = int16(1+r.Intn(tetrisduel.HalfTurns)), int16(r.Intn(9)), r.Intn(2) > 0
			s.Points = [2]int32{r.Int31n(99), r.Int31n(99)}
			s.Cells = rough(&boards)
			if r.Intn(2) > 0 {
				s.Cells = tetrisduel.Turned(&s.Cells)
			}
			if s.Check() != nil { // the block has no room
				continue
			}
			n, l := sameLeaves(t, e, s)
			leaves, lost = leaves+n, lost+l
		}
		require.Greater(t, lost, 50, name)
	}
}

// sameLeaves compares the leaves of one position and returns how many there are, and how many ended the game.
func sameLeaves(t *testing.T, e search.LeafEvaluator, s *tetrisduel.State) (leaves, lost int) {
	t.Helper()
	s.Force(make([]uint16, env.MaxDraws))
	seat := s.Mover()
	legal := s.Legal(seat, nil)
	out, want, before := make([]float32, len(legal)), make([]float32, 1), *s
	rest := e.EvaluateLeaves(s, seat, legal, out, nil)
	require.Equal(t, before, *s)
	child := tetrisduel.Game.New(2)
	for i, a := range legal {
		child.CopyFrom(s)
		env.After(child, seat, a)
		if child.Acting() == 0 {
			require.Contains(t, rest, i)
			lost++
			continue
		}
		e.Evaluate([]env.State{child}, seat, want)
		require.Equal(t, want[0], out[i], "action %d of turn %d on %v", a, s.Turn, s.Cells)
	}
	require.Len(t, rest, lost)
	return len(legal), lost
}

func TestLeavesAllocateNothing(t *testing.T) {
	learned := NewLearned(toybot.RandomNet(t, 1, Len, 64, 1))
	for _, e := range []search.LeafEvaluator{NewHand(), learned} {
		s := draw(t, 3, roofed)
		legal := s.Legal(0, nil)
		out, rest := make([]float32, len(legal)), make([]int, 0, len(legal))
		require.Zero(t, testing.AllocsPerRun(10, func() { rest = e.EvaluateLeaves(s, 0, legal, out, rest[:0]) }))
	}
}
