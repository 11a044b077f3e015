package search

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
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
		s := envtest.Start[env.State](toy.Turns, 2+int(seed%2), seed)
		turns = append(turns, s)
	}
	for _, c := range []struct {
		game *env.Game
		eval Evaluator
		list []env.State
	}{
		{blockbattle.Game, tidy{}, positions(6)},
		{toy.Turns, margin{}, turns},
	} {
		for ply := 1; ply <= 3; ply++ {
			e := &byLeaf{Evaluator: c.eval, game: c.game}
			o := Options{Ply: ply, Width: 2, Outcomes: 2}
			plain, direct := envtest.Must(New(c.game, c.eval, o)), envtest.Must(New(c.game, e, o))
			for i, s := range c.list {
				seat := s.Acting().First()
				want := envtest.Must(plain.Act(context.Background(), s, seat))
				got := envtest.Must(direct.Act(context.Background(), s, seat))
				require.Equal(t, want, got, "%s, %d plies, position %d", c.game.Name, ply, i)
				require.Equal(t, plain.(Reporter).Value(), direct.(Reporter).Value())
			}
			require.NotZero(t, e.leaves)
		}
	}
}

// A lottery calls one of n positions risky, by a hash of the seat's board.
type lottery struct{ n uint64 }

func (p lottery) of(child env.State, seat int) bool {
	hash := uint64(1)
	for _, column := range child.(*blockbattle.State).Sides[seat].Cells {
		hash = env.Derive(hash, column)
	}
	return hash%p.n == 0
}

func (p lottery) Risky(_ env.State, seat int, children []env.State, out []bool) {
	for i, c := range children {
		out[i] = p.of(c, seat)
	}
}

// A guarded search plays the best of the first actions that are not risky. The guard does not count if it calls all
// risky, or if all others lose for certain.
func TestGuardedSearchPlaysTheBestThatIsNotRisky(t *testing.T) {
	g, e := blockbattle.Game, hashed{levels: 1 << 20}
	reference := exhaust{eval: e}
	for _, n := range []uint64{1, 2, 3} {
		guard, changed, lost := lottery{n}, 0, 0
		agent := envtest.Must(New(g, e, Options{Guard: guard}))
		for i, s := range positions(60) {
			seat := i % 2
			whole, wholeValue := reference.best(s, seat, 0, 2)
			want, best := env.None, -2*Win
			for _, a := range s.Legal(seat, nil) {
				child := copyOf(g, s)
				env.After(child, seat, a)
				if child.Acting() != 0 && guard.of(child, seat) {
					continue
				}
				if v := reference.value(s, seat, a, 0, 2); v > best {
					want, best = a, v
				}
			}
			if best < -Limit { // all others lose, or there is none
				want, best = whole, wholeValue
				lost++
			}
			require.Equal(t, want, act(agent, s, seat), "%d: position %d", n, i)
			require.InDelta(t, best, agent.(Reporter).Value(), 1e-3, "%d: position %d", n, i)
			if want != whole {
				changed++
			}
		}
		if n == 1 {
			require.Zero(t, changed)
			continue
		}
		require.Greater(t, changed, 5)
		require.NotZero(t, lost)
	}
}

// Deeper searches go on from pairs whose first action is not risky.
func TestGuardOfDeeperSearches(t *testing.T) {
	g, e, guard := blockbattle.Game, hashed{levels: 1 << 20}, lottery{2}
	for ply := 3; ply <= 4; ply++ {
		agent := envtest.Must(New(g, e, Options{Ply: ply, Width: 2, Outcomes: 1, Guard: guard}))
		for i, s := range positions(10) {
			a := act(agent, s, 0)
			child := copyOf(g, s)
			env.After(child, 0, a)
			if agent.(Reporter).Value() > -Limit {
				require.False(t, child.Acting() != 0 && guard.of(child, 0), "position %d", i)
			}
		}
	}
}
