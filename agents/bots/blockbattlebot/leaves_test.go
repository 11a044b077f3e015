package blockbattlebot

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

// The values of leaves are the bits of the values of the positions they stand for; only finished games are left out.
func TestLeavesAgainstPositions(t *testing.T) {
	r := rand.New(rand.NewSource(*seed))
	learned := NewLearned(toybot.RandomNet(t, *seed, Len, 64, 1))
	games := []*env.Game{blockbattle.Game, blockbattle.ClassicGame, blockbattle.PortGame}
	for name, e := range map[string]search.LeafEvaluator{"hand": NewHand(), "learned": learned} {
		leaves, lost := 0, 0
		for i := 0; leaves < envtest.Many(10_000, 100_000); i++ {
			s := roundStart(r)
			s.Rules = games[i%3].New(2).(*blockbattle.State).Rules
			n, l := sameLeaves(t, e, s, r.Intn(2))
			leaves, lost = leaves+n, lost+l
		}
		require.Greater(t, lost, 50, name)
	}
}

// roundStart is a random position at the start of a round.
func roundStart(r *rand.Rand) *blockbattle.State {
	for {
		s := randomState(r)
		s.Piece, s.Next = uint8(r.Intn(blockbattle.Pieces)), uint8(r.Intn(blockbattle.Pieces))
		for k := range s.Sides {
			d := &s.Sides[k]
			d.Pending = 0
			d.Cells.Clear(d.Cells.Full(blockbattle.Width))
		}
		if s.Check() == nil { // the piece has room to appear
			return s
		}
	}
}

// sameLeaves compares the leaves of one position and returns how many there are, and how many ended the game.
func sameLeaves(t *testing.T, e search.LeafEvaluator, s *blockbattle.State, seat int) (leaves, lost int) {
	t.Helper()
	s.Force(make([]uint16, env.MaxDraws))
	legal := s.Legal(seat, nil)
	out, want, before := make([]float32, len(legal)), make([]float32, 1), *s
	rest := e.EvaluateLeaves(s, seat, legal, out, nil)
	require.Equal(t, before, *s)
	child := blockbattle.Game.New(2)
	for i, a := range legal {
		child.CopyFrom(s)
		env.After(child, seat, a)
		if child.Acting() == 0 {
			require.Contains(t, rest, i)
			lost++
			continue
		}
		e.Evaluate([]env.State{child}, seat, want)
		require.Equal(t, want[0], out[i], "seed %d, action %s of\n%v", *seed, blockbattle.Text(a), s)
	}
	require.Len(t, rest, lost)
	return len(legal), lost
}

func TestLeavesAllocateNothing(t *testing.T) {
	learned := NewLearned(toybot.RandomNet(t, 1, Len, 64, 1))
	for _, e := range []search.LeafEvaluator{NewHand(), learned} {
		s := draw(t, heap, quadWell)
		legal := s.Legal(0, nil)
		out, rest := make([]float32, len(legal)), make([]int, 0, len(legal))
		require.Zero(t, testing.AllocsPerRun(10, func() { rest = e.EvaluateLeaves(s, 0, legal, out, rest[:0]) }))
	}
}
