package blockbattlebot

import (
	"math/rand"
	"testing"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

func TestLeavesAgainstPositions(t *testing.T) {
	r := rand.New(rand.NewSource(*seed))
	learned := NewLearned(toybot.RandomNet(t, *seed, Len, 64, 1))
	games := []*env.Game{blockbattle.Game, blockbattle.ClassicGame, blockbattle.PortGame}
	for _, e := range []search.LeafEvaluator{NewHand(), learned} {
		toybot.Leaves(t, blockbattle.Game, e, func() (env.State, int) {
			s := roundStart(r)
			s.Rules = games[r.Intn(3)].New(2).(*blockbattle.State).Rules
			return s, r.Intn(2)
		})
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

// randomState is a position with random boards and stocks. Its pieces may not fit.
func randomState(r *rand.Rand) *blockbattle.State {
	s := blockbattle.Game.New(2).(*blockbattle.State)
	for i := range s.Sides {
		f, solid := randomField(r)
		s.Sides[i] = blockbattle.Side{
			Cells: f, Solid: uint8(solid), Points: r.Int31n(100), Combo: r.Int31n(10), Skips: r.Int31n(8),
			Pending: uint8(r.Intn(6)),
		}
	}
	s.Round = 1 + r.Int31n(250)
	return s
}
