package search

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
)

// keen is a sensible evaluator that says who is ahead.
type keen struct{ tidy }

func (keen) Odds() float32 { return 0.25 }

// rolled returns rollouts after the best actions of a.
func rolled(t testing.TB, a env.Agent, most int) env.Agent {
	t.Helper()
	r, err := NewRollouts(blockbattle.Game, a, keen{}, most, blockbattle.Pieces)
	require.NoError(t, err)
	return r
}

// A plain Rollouts plays all rollouts of all actions and keeps to the rule afterwards.
type plain struct {
	most, outcomes int
}

func (p plain) best(t *testing.T, s env.State, seat int) env.Action {
	t.Helper()
	inner := NewTwoPly(blockbattle.Game, keen{})
	chosen := act(t, inner, s, seat)
	value := func(a env.Action) float32 { return inner.root.value[slices.Index(inner.root.legal, a)] }
	var list []env.Action
	for _, a := range s.Legal(seat, nil) {
		if v := value(a); a == chosen || v >= -Limit && keen.Odds(keen{})*(value(chosen)-v) <= rivalsNear {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b env.Action) int {
		switch { // the search's choice first, then the greatest value
		case a == chosen || b != chosen && value(a) > value(b):
			return -1
		case b == chosen || value(a) < value(b):
			return 1
		}
		return 0
	})
	list = list[:min(len(list), rivalsMost)]
	results := map[env.Action][]float64{}
	for _, a := range list {
		for k := range p.most {
			results[a] = append(results[a], p.play(t, s, seat, a, k))
		}
	}
	for n := 1; n <= p.most; n++ {
		if n%batch != 0 && n != p.most {
			continue
		}
		errors := map[env.Action]float64{} // by how many standard errors an action is better
		for _, a := range list[1:] {
			var sum, squares float64
			for k := range n {
				sum += results[a][k] - results[chosen][k]
			}
			for k := range n {
				squares += math.Pow(results[a][k]-results[chosen][k]-sum/float64(n), 2)
			}
			errors[a] = sum / float64(n) / math.Sqrt((squares/float64(n)+1e-6)/float64(n))
		}
		list = slices.DeleteFunc(list, func(a env.Action) bool { return a != chosen && errors[a] < ahead })
		at := slices.MaxFunc(list, func(a, b env.Action) int { return int(math.Copysign(1, errors[a]-errors[b])) })
		if errors[at] > beyond {
			return at
		}
	}
	return chosen
}

func (p plain) play(t *testing.T, s env.State, seat int, a env.Action, k int) float64 {
	t.Helper()
	one, game := exhaust{eval: keen{}}, exhaust{}.fresh(s)
	draws := []uint16{uint16(k % p.outcomes), uint16(k / p.outcomes % p.outcomes)}
	for round := range 8 {
		m := env.NoMoves
		for at := range 2 {
			if m[at] = a; round > 0 || at != seat {
				m[at], _ = one.best(game, at, 0, 1)
			}
		}
		game.Hide(3, env.Derive(uint64(k), uint64(round)))
		game.Force(nil)
		if round < 2 {
			game.Force(draws[round : round+1])
		}
		game.Step(m)
		if game.Acting() == 0 {
			return (1 + float64(game.Result(seat))) / 2
		}
	}
	var own, other [1]float32
	keen{}.Evaluate([]env.State{game}, seat, own[:])
	keen{}.Evaluate([]env.State{game}, 1-seat, other[:])
	return Chance(keen.Odds(keen{}) * (own[0] - other[0]))
}

// Rollouts change the choice of the search exactly where the plain ones do.
func TestRolloutsPlayWhatPlainOnesPlay(t *testing.T) {
	changed := 0
	for _, most := range []int{20, 60} {
		p := plain{most: most, outcomes: blockbattle.Pieces}
		agent, err := New(blockbattle.Game, keen{}, Options{Rollouts: most, Outcomes: p.outcomes})
		require.NoError(t, err)
		for i, s := range positions(t, 12) {
			got := act(t, agent, s, i%2)
			require.Equal(t, p.best(t, s, i%2), got, "%d rollouts, position %d", most, i)
			if got != act(t, NewTwoPly(blockbattle.Game, keen{}), s, i%2) {
				changed++
			}
		}
	}
	require.NotZero(t, changed)
}

func TestRolloutsRefuseSearchesThatTheyCannotFollow(t *testing.T) {
	for _, c := range []struct {
		g    *env.Game
		e    Evaluator
		o    Options
		want string
	}{
		{blockbattle.Game, tidy{}, Options{Rollouts: 1}, "rollouts need an evaluator that says who is ahead"},
		{blockbattle.Game, keen{}, Options{Rollouts: 1, Ply: 1}, "want 1 or more, after a search of two plies or more"},
		{blockbattle.Game, keen{}, Options{Rollouts: -1}, "-1 rollouts of blockbattle: want 1 or more"},
		{blocking.Game, keen{}, Options{Rollouts: 1}, "in a game of two who act at once"},
	} {
		_, err := New(c.g, c.e, c.o)
		require.ErrorContains(t, err, c.want)
	}
}
