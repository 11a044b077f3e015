package search

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest/toy"
)

// byLeaf values leaves one by one and leaves out finished games, and every third of the others.
type byLeaf struct {
	Evaluator
	game   *env.Game
	leaves int
}

func (b *byLeaf) EvaluateLeaves(s env.State, seat int, legal []env.Action, out []float32, rest []int) []int {
	for i, a := range legal {
		child := copyOf(b.game, s)
		env.After(child, seat, a)
		if child.Acting() == 0 || i%3 == 2 {
			rest = append(rest, i)
			continue
		}
		b.Evaluate([]env.State{child}, seat, out[i:i+1])
		b.leaves++
	}
	return rest
}

// A search plays the same, at the same value, whether its evaluator values leaves or positions.
func TestSearchesPlayLeavesAsPositions(t *testing.T) {
	var turns []env.State
	for seed := range uint64(20) {
		s := toy.Turns.New(2 + int(seed%2))
		s.Reset(seed)
		turns = append(turns, s)
	}
	for _, c := range []struct {
		game *env.Game
		eval Evaluator
		list []env.State
	}{
		{blockbattle.Game, tidy{}, positions(t, 6)},
		{toy.Turns, margin{}, turns},
	} {
		for ply := 1; ply <= 3; ply++ {
			e := &byLeaf{Evaluator: c.eval, game: c.game}
			o := Options{Ply: ply, Width: 2, Outcomes: 2}
			plain, err := New(c.game, c.eval, o)
			require.NoError(t, err)
			direct, err := New(c.game, e, o)
			require.NoError(t, err)
			for i, s := range c.list {
				seat := s.Acting().First()
				want, err := plain.Act(context.Background(), s, seat)
				require.NoError(t, err)
				got, err := direct.Act(context.Background(), s, seat)
				require.NoError(t, err)
				require.Equal(t, want, got, "%s, %d plies, position %d", c.game.Name, ply, i)
				require.Equal(t, plain.(Reporter).Value(), direct.(Reporter).Value())
			}
			require.NotZero(t, e.leaves)
		}
	}
}
