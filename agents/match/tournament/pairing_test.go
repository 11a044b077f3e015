package tournament

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/env/blocking"
)

// inversions is how many pairs of players, whose strengths fall, have ratings in another order.
func inversions(r *match.Results) (n int) {
	elo := r.Elo()
	for b := range elo {
		for a := range b {
			if elo[a].Value <= elo[b].Value {
				n++
			}
		}
	}
	return n
}

// TestPairingTellsMore than a round robin: with half of its games, the order of the players is as near to that of their
// strengths, or nearer, over many seeds, whatever their number, their spread and the number of pairs at once.
func TestPairingTellsMore(t *testing.T) {
	for _, c := range []struct {
		players, rounds, atOnce, seeds int
		spread                         float64
	}{{8, 6, 2, 20, 250}, {16, 2, 4, 5, 400}} {
		league, round := 0, 0
		for seed := range c.seeds {
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			truth, who := make([]float64, c.players), make([]int, c.players)
			for k := range truth {
				who[k], truth[k] = k, -c.spread*rng.NormFloat64()
			}
			slices.SortFunc(truth, func(a, b float64) int { return cmp.Compare(b, a) })
			play := func(r *match.Results, a, b int) {
				for range 2 {
					half := 0
					if rng.Float64() < match.Expected(truth[a]-truth[b]) {
						half = 2
					}
					r.Add(a, b, half)
				}
			}
			all, pairs := match.NewResults(c.players), 0
			for range c.rounds {
				for b := range truth {
					for a := range b {
						play(all, a, b)
						pairs++
					}
				}
			}
			round += inversions(all)
			some := match.NewResults(c.players)
			for played := 0; played < pairs/2; {
				for _, pair := range pairing(some, who, min(c.atOnce, pairs/2-played)) {
					play(some, pair[0], pair[1])
					played++
				}
			}
			league += inversions(some)
		}
		require.Less(t, league, round, "%+v", c)
	}
}

// TestPairing: who is new meets somebody near, the pairs of one call differ, and who has left meets nobody.
func TestPairing(t *testing.T) {
	r := match.NewResults(4) // 0 beats 1, who beats 2; 3 has no game
	for k := range 40 {
		r.Add(0, 1, min(2, k%5))
		r.Add(1, 2, min(2, k%5))
	}
	all := []int{0, 1, 2, 3}
	require.Equal(t, [][2]int{{1, 3}}, pairing(r, all, 1))
	require.Equal(t, [][2]int{{0, 2}, {0, 2}}, pairing(r, []int{0, 2}, 2))
	got := pairing(match.NewResults(4), all, 2)
	require.ElementsMatch(t, all, slices.Concat(got[0][:], got[1][:]))
	require.Empty(t, pairing(r, all[:1], 3))
	require.Empty(t, pairing(match.NewResults(0), nil, 3))
}

// TestGamesOfOtherWorkers: beside a pair for each worker of this machine, there are no more pairs than two can be chosen of
// those whom other workers can play, so that the first who are ready do not play all games.
func TestGamesOfOtherWorkers(t *testing.T) {
	l := &League{Tournament: &Tournament{Config: Config{Rules: blocking.Game, Format: Ongoing, Seats: 2, Games: 2, Workers: 64}},
		Here: 1}
	for k := range 5 {
		l.Entrants = append(l.Entrants, &Entrant{Name: fmt.Sprint(k), into: "ready"})
	}
	require.Len(t, l.games(), 2)
	l.Away = func(number int) bool { return number < 3 }
	games := l.games()
	require.Len(t, games, 2+2*3)
	met := map[string]int{}
	for _, g := range games[2:] {
		require.Less(t, max(g.Seats[0], g.Seats[1]), 3)
		met[fmt.Sprint(slices.Sorted(slices.Values(g.Seats)))]++
	}
	require.Equal(t, map[string]int{"[0 1]": 2, "[0 2]": 2, "[1 2]": 2}, met)
}
