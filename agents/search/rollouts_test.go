package search

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
)

// rolled returns rollouts in all positions, or in none, after three plies.
func rolled(e Evaluator, most int, critical bool) *Rollouts {
	x := NewExpectimax(blockbattle.Game, e, 8, 2)
	return NewRollouts(x, func(env.State) bool { return critical }, most)
}

// plainRollouts plays all rollouts of all actions first, and keeps to the rule afterwards.
func plainRollouts(t *testing.T, e Evaluator, s env.State, seat, most int) env.Action {
	t.Helper()
	x := NewExpectimax(blockbattle.Game, e, 8, 2)
	chosen := act(t, x, s, seat)
	if math.Abs(float64(x.Value())) > float64(Limit) {
		return chosen
	}
	list := []env.Action{chosen}
	for _, p := range x.two.pairs.list { // the best first
		if a := x.two.root.legal[p.first]; len(list) < 4 && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	results := map[env.Action][]float64{}
	for _, a := range list {
		for k := range most {
			results[a] = append(results[a], plainRollout(e, s, seat, a, k+1))
		}
	}
	for n := 1; n <= most && len(list) > 1; n++ {
		if n%49 == 0 || n == most {
			list = plainLook(list, func(a env.Action) []float64 { return results[a][:n] })
		}
	}
	return list[0]
}

// plainLook returns the actions of list that are left after these results: the first and those ahead of it by one
// standard error, or the one that is ahead by the most, if by more than three.
func plainLook(list []env.Action, results func(a env.Action) []float64) []env.Action {
	lead := map[env.Action]float64{}
	for _, a := range list[1:] {
		apart := slices.Clone(results(a))
		for i, v := range results(list[0]) {
			apart[i] -= v
		}
		mean, variance := stat.PopMeanVariance(apart, nil)
		lead[a] = mean / math.Sqrt((variance+1e-6)/float64(len(apart)))
	}
	for _, a := range list[1:] {
		if lead[a] > 3 && lead[a] == slices.Max(slices.Collect(maps.Values(lead))) {
			return []env.Action{a}
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(a env.Action) bool { return a != list[0] && lead[a] < 1 })
}

func plainRollout(e Evaluator, s env.State, seat int, a env.Action, k int) float64 {
	game := exhaust{}.fresh(s)
	for round := 0; round < 30 && game.Acting() != 0; round++ {
		m := env.Moves{a, a, env.None, env.None}
		for at := range 2 {
			if round > 0 || at != seat {
				m[at], _ = exhaust{eval: e}.best(game, at, 0, 1)
			}
		}
		game.Hide(3, uint64(30*k+round))
		game.Force([][]uint16{{uint16(k % 2)}, {uint16(k / 2 % 2)}, nil}[min(round, 2)])
		game.Step(m)
	}
	return float64(1+game.Result(seat)) / 2
}

// Rollouts play what plain ones play: in some positions the search's choice, in others not. Where nothing is critical,
// they play what the search plays.
func TestRolloutsPlayWhatPlainOnesPlay(t *testing.T) {
	e, changed := hashed{levels: 1 << 20}, 0
	for i, s := range positions(t, 60) {
		got, quiet := act(t, rolled(e, 110, true), s, i%2), act(t, rolled(e, 110, false), s, i%2)
		require.Equal(t, act(t, NewExpectimax(blockbattle.Game, e, 8, 2), s, i%2), quiet, "position %d", i)
		if got != quiet {
			changed++
		} else if i%6 > 0 {
			continue // plain ones are slow
		}
		require.Equal(t, plainRollouts(t, e, s, i%2, 110), got, "position %d", i)
	}
	require.NotZero(t, changed)
}

func TestALookAtRollouts(t *testing.T) {
	rand := rand.New(rand.NewPCG(1, 2))
	seen := map[int]int{}
	for range 2000 {
		var list []rival
		var want []env.Action
		results := map[env.Action][]float64{}
		for a := range env.Action(rivals) {
			v, better := rival{action: a}, 0.2*rand.Float32()
			for range batch {
				v.results = append(v.results, better+rand.Float32()) // any numbers, so that none is ahead by the same
				results[a] = append(results[a], float64(v.results[len(v.results)-1]))
			}
			list, want = append(list, v), append(want, a)
		}
		want = plainLook(want, func(a env.Action) []float64 { return results[a] })
		var got []env.Action
		for _, v := range compare(list) {
			got = append(got, v.action)
		}
		require.Equal(t, want[0], got[0])
		require.ElementsMatch(t, want, got)
		seen[len(got)]++
	}
	require.Len(t, seen, rivals)
}

// The search's choice is invited, then the best of the other first actions at two plies, none of them twice.
func TestWhoIsInvited(t *testing.T) {
	for i, s := range positions(t, 60) {
		r := rolled(hashed{levels: 1 << 20}, 1, false)
		a := act(t, r, s, i%2)
		want := []env.Action{a}
		for _, p := range r.two.pairs.list {
			if b := r.two.root.legal[p.first]; len(want) < rivals && !slices.Contains(want, b) {
				want = append(want, b)
			}
		}
		var got []env.Action
		for _, v := range r.invite(a) {
			got = append(got, v.action)
		}
		require.Equal(t, want, got, "position %d", i)
	}
}

func TestRolloutsRefuseSearchesThatTheyCannotFollow(t *testing.T) {
	always := func(env.State) bool { return true }
	for _, c := range []struct {
		g *env.Game
		o Options
	}{
		{blockbattle.Game, Options{Rollouts: 1, Ply: 2, Critical: always}},
		{blockbattle.Game, Options{Rollouts: -1, Ply: 3, Outcomes: 2, Critical: always}},
		{blockbattle.Game, Options{Rollouts: 1, Ply: 3, Outcomes: 2}},
		{blocking.Game, Options{Rollouts: 1, Ply: 3, Critical: always}},
	} {
		_, err := New(c.g, tidy{}, c.o)
		require.ErrorContains(t, err, "want a number above 0, with ply 3 or 4, in a game of two who act at once")
	}
}
