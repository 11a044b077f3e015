package blockbattlebot

import (
	"math/rand"
	"testing"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"

	"github.com/stretchr/testify/require"
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

// The guard calls a placement risky exactly if the seat does not survive the opponent's strongest attack after it. That
// it looks at high stacks only makes no difference. It allocates nothing.
func TestGuard(t *testing.T) {
	g, greedy := NewGuard(), search.NewGreedy(blockbattle.Game, NewHand())
	risky, safe := 0, 0
	for seed := range uint64(6) {
		s := envtest.Start[*blockbattle.State](blockbattle.Game, 2, seed)
		for s.Acting() != 0 {
			if children := toybot.After(blockbattle.Game, s, 0); len(children) > 0 {
				out := make([]bool, len(children))
				g.Risky(s, 0, children, out)
				threat := s.Threat(1, s.Legal(1, nil))
				for i, c := range children {
					require.Equal(t, threat > 0 && !c.(*blockbattle.State).Survives(0, threat), out[i], "round %d", s.Round)
					if out[i] {
						risky++
					} else {
						safe++
					}
				}
				require.Zero(t, testing.AllocsPerRun(4, func() { g.Risky(s, 0, children, out) }))
			}
			m := env.NoMoves
			for seat := range 2 {
				m[seat] = envtest.Must(greedy.Act(t.Context(), s, seat))
			}
			s.Step(m)
		}
	}
	require.Greater(t, risky, 20)
	require.Greater(t, safe, 1000)
}
