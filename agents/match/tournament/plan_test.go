package tournament

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/match"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

// simulate plays a tournament in which the entrant with the smaller number always wins, or, with luck, mostly.
func simulate(t testing.TB, c Config, n int, luck *rand.Rand) *Tournament {
	c.Rules = blocking.Game
	tour, p := &Tournament{Config: c}, &plan{c: &c}
	for k := range n {
		tour.Entrants, p.in = append(tour.Entrants, &Entrant{Name: fmt.Sprint("e", k)}), append(p.in, k)
	}
	first := p.expected(nil)
	for batch := p.next(nil); len(batch) > 0; batch = p.next(tour.Played) {
		for _, g := range batch {
			require.Equal(t, len(tour.Played), g.Number)
			require.Len(t, g.Seats, c.Seats)
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(g.Seats))), c.Seats, "nobody plays against himself")
			g.UsedMS, g.MostMS = make([]float64, c.Seats), make([]float64, c.Seats)
			for _, k := range g.Seats {
				points := 3*n - k
				if luck != nil {
					points -= luck.IntN(2 * n)
				}
				g.Points = append(g.Points, points)
			}
			g.Ranks = contest.Ranks(g.Points)
			tour.Played = append(tour.Played, g)
		}
		require.Equal(t, first, p.expected(tour.Played), "the number of games does not depend on results")
	}
	require.Len(t, tour.Played, first)
	for _, s := range tour.Report().Players {
		require.Positive(t, s.Games)
		require.Equal(t, (c.Seats-1)*s.Games, s.Wins+s.Draws+s.Losses)
	}
	return tour
}

func TestRoundRobin(t *testing.T) {
	tour := simulate(t, Config{Format: RoundRobin, Seats: 2, Games: 2, Finals: 2}, 6, nil)
	meetings := map[[2]int]int{}
	seeds := map[string]bool{}
	for _, g := range tour.Played {
		seeds[g.Seed] = true
		if g.Stage == "round robin" {
			meetings[[2]int{g.Seats[0], g.Seats[1]}]++
		}
	}
	require.Len(t, meetings, 6*5, "every pair in both orders")
	require.Len(t, seeds, len(tour.Played), "a seed of its own for every game")
	require.Len(t, tour.Played, 30+4+4)
	for place, s := range tour.Report().Players {
		require.Equal(t, place, s.Number)
	}
}

func TestSwiss(t *testing.T) {
	for _, n := range []int{5, 12, 13} {
		tour := simulate(t, Config{Format: Swiss, Seats: 2, Games: 1}, n, rand.New(rand.NewPCG(1, uint64(n))))
		games, seen := make([]int, n), map[[2]int]bool{}
		for _, g := range tour.Played {
			games[g.Seats[0]]++
			games[g.Seats[1]]++
			pair := [2]int{min(g.Seats[0], g.Seats[1]), max(g.Seats[0], g.Seats[1])}
			require.False(t, seen[pair], "%v met twice among %d", pair, n)
			seen[pair] = true
		}
		require.LessOrEqual(t, slices.Max(games)-slices.Min(games), 1, "sitting out goes around: %v", games)
	}
	tour := simulate(t, Config{Format: Swiss, Seats: 2, Games: 2}, 12, nil)
	require.Equal(t, 0, tour.Report().Players[0].Number)
	require.Equal(t, 11, tour.Report().Players[11].Number)
}

func TestTablesOfFour(t *testing.T) {
	for _, format := range []Format{RoundRobin, Swiss} {
		simulate(t, Config{Format: format, Seats: 4, Games: 4}, 9, rand.New(rand.NewPCG(7, 7)))
	}
}

// TestFinalsTakeTheBestFour: the finals are played by the first four, and decide their order.
func TestFinalsTakeTheBestFour(t *testing.T) {
	tour := simulate(t, Config{Format: RoundRobin, Seats: 2, Games: 2, Finals: 2}, 5, nil)
	n := len(tour.Played)
	var stages []string
	for _, g := range tour.Played[n-8:] {
		stages = append(stages, g.Stage)
	}
	require.Equal(t, []string{"semi-final", "semi-final", "semi-final", "semi-final", "third place", "third place",
		"final", "final"}, stages)
	require.ElementsMatch(t, []int{0, 3}, tour.Played[n-8].Seats)
	for k := n - 2; k < n; k++ { // the second wins the final
		tour.Played[k].Ranks = []int{1 + tour.Played[k].Seats[1], 1 + tour.Played[k].Seats[0]}
	}
	var order []int
	for _, s := range tour.Report().Players {
		order = append(order, s.Number)
	}
	require.Equal(t, []int{1, 0, 2, 3, 4}, order)
}

// No game of a ladder waits for another one, so that a few agents keep many workers busy.
func TestAllGamesOfALadderAreReadyAtOnce(t *testing.T) {
	for _, seats := range []int{1, 2} {
		p := &plan{&Config{Rules: blocking.Game, Format: Ladder, Seats: seats, Games: seats, Repeats: 50}, []int{0, 1, 2}}
		games := p.next(nil)
		require.Len(t, games, 50*3*seats)
		require.Equal(t, games[7:], p.next(games[:7]))
	}
}

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

// TestPairing: a new entrant meets one of similar rating, the pairs of one call differ, and one that has left meets nobody.
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

// ladder is a ladder of some agents in a folder. In a game of one seat they are stopped after 30 actions.
func ladder(g *env.Game, dir string, rounds int, specs ...string) (*Tournament, error) {
	a := &match.Agents{Match: match.Match{Rules: g}}
	tour := &Tournament{Runner: a, Config: Config{Rules: g, Format: Ladder, Repeats: rounds, Seed: 7, Workers: 1,
		Seats: min(2, g.MaxSeats), Games: min(2, g.MaxSeats)}, Changed: func(*Tournament) error { return nil }}
	if g.MaxSeats == 1 {
		a.Steps = 30
	}
	for _, spec := range specs {
		made := envtest.Must(bots.New(g, bots.Own(strings.TrimPrefix(spec, "twin="))))
		a.Players = append(a.Players, match.Player{Name: spec, New: made})
		tour.Entrants = append(tour.Entrants, &Entrant{Name: spec, Fingerprint: spec})
	}
	var err error
	tour.Journal, err = openJournal(dir, &tour.Config, "", tour.Entrants)
	return tour, err
}

// climb plays a ladder in a folder to its end.
func climb(t *testing.T, g *env.Game, dir string, rounds int, specs ...string) *match.Report {
	tour := envtest.Must(ladder(g, dir, rounds, specs...))
	require.NoError(t, errors.Join(tour.Play(t.Context()), tour.Journal.Close()))
	return tour.Report().Report
}

// Every two agents meet equally often, with the seats swapped, and the stronger one is placed higher.
func TestLadder(t *testing.T) {
	dir := t.TempDir()
	r := climb(t, blocking.Game, dir, 3, "random", "hand:ply=1", "first")
	require.Equal(t, []int{18, 18}, []int{r.Games, r.Expected})
	require.Equal(t, "hand:ply=1", r.Players[0].Name)
	require.Len(t, r.Meetings, 3)
	for _, m := range r.Meetings {
		require.Equal(t, 3, m.Pairs.N())
	}
	for _, p := range r.Players {
		require.Equal(t, []int{12, 12}, []int{p.Games, p.Total()})
		require.Less(t, p.Elo.Low, p.Elo.Value)
	}
	require.Contains(t, r.String(), "blocking, seed 7: 18 games\n")
	var picture bytes.Buffer
	require.NoError(t, r.Draw(&picture))
	require.Equal(t, 3, strings.Count(picture.String(), "<circle "), "a dot for each agent")
	require.Less(t, strings.Index(picture.String(), ">hand:ply=1<"), strings.Index(picture.String(), ">random<"))
	require.NoDirExists(t, filepath.Join(dir, GamesDir))
}

// The games of two agents in a ladder are those of their match with the seed of the round.
func TestLadderPlaysTheGamesOfAMatch(t *testing.T) {
	tour := envtest.Must(ladder(blocking.Game, t.TempDir(), 2, "random", "first"))
	require.NoError(t, errors.Join(tour.Play(t.Context()), tour.Journal.Close()))
	m := tour.Runner.(*match.Agents).Match
	for round := range 2 {
		m.Units, m.Seed = 1, env.Derive(7, uint64(round))
		r := envtest.Must(m.Play(t.Context()))
		want := match.NewReport(blocking.Game, "", []match.Standing{{Name: "random"}, {Name: "first", Number: 1}})
		want.Add(tour.Played[2*round : 2*round+2])
		require.Equal(t, want.Meetings[0], r.Meetings[0])
		require.Equal(t, want.Players[0].Points, r.Players[0].Points)
	}
}

// A chanceless state draws nothing: every seed begins the same game.
type chanceless struct{ env.State }

func (f chanceless) Reset(uint64)           { f.State.Reset(1) }
func (f chanceless) CopyFrom(src env.State) { f.State.CopyFrom(src.(chanceless).State) }

// TestRepeatedPairsOfALadderCountOnce, also when it goes on: a pair that repeats another one move for move is no other
// sample of the ratings. What chooses at random plays other games.
func TestRepeatedPairsOfALadderCountOnce(t *testing.T) {
	g := *blocking.Game
	g.New = func(seats int) env.State { return chanceless{blocking.Game.New(seats)} }
	dir, specs := t.TempDir(), []string{"first", "twin=first", "random"}
	r := climb(t, &g, dir, 3, specs...)
	require.Equal(t, []int{14, 4, 18}, []int{r.Games, r.Repeated, r.Expected})
	between := func(m match.Meeting) bool { return m.A != "random" && m.B != "random" }
	require.Equal(t, 1, r.Meetings[slices.IndexFunc(r.Meetings, between)].Pairs.N())
	require.Contains(t, r.String(), "4 more games repeat one of them move for move, and do not count\n")
	require.NotContains(t, r.String(), "run the same command again to go on")
	r = climb(t, &g, dir, 5, specs...)
	require.Equal(t, []int{22, 8, 30}, []int{r.Games, r.Repeated, r.Expected})
}

// In a game of one seat, agents are compared by their scores with the same seed.
func TestLadderOfOneSeat(t *testing.T) {
	r := climb(t, wintetris.Game, t.TempDir(), 4, "random", "hand")
	require.Equal(t, 8, r.Games)
	hand, random := r.Players[0], r.Players[1]
	require.Equal(t, "hand", hand.Name)
	require.Equal(t, []int{4, 4, 0, 0}, []int{hand.Games, hand.Wins, hand.Draws, hand.Losses})
	require.Equal(t, []int{4, 0, 0, 4}, []int{random.Games, random.Wins, random.Draws, random.Losses})
	require.Greater(t, hand.Points.Mean.Value, random.Points.Mean.Value)
	require.Contains(t, r.String(), "mean points")
}

// A ladder that is stopped after any game, or in the middle of writing one, goes on and ends with the same journal, for
// any number of workers.
func TestLadderGoesOn(t *testing.T) {
	specs := []string{"random", "first", "hand:ply=1"}
	whole, dir := t.TempDir(), t.TempDir()
	want := climb(t, blocking.Game, whole, 3, specs...)
	path := filepath.Join(dir, journalFile)
	for parts := 0; ; parts++ {
		tour := envtest.Must(ladder(blocking.Game, dir, 3, specs...))
		require.ErrorContains(t, envtest.Failed(OpenJournal(dir)), "another process plays in "+dir)
		ctx, cancel := context.WithCancel(t.Context())
		if parts >= 2 {
			tour.Workers = 2
		}
		first := len(tour.Journal.Played)
		tour.Changed = func(tour *Tournament) error {
			if len(tour.Played) > first+1 {
				cancel()
			}
			return nil
		}
		err := tour.Play(ctx)
		cancel()
		require.NoError(t, tour.Journal.Close())
		r := tour.Report().Report
		if r.Games == r.Expected {
			require.Equal(t, want, r)
			require.GreaterOrEqual(t, parts, 2)
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		require.Contains(t, r.String(), "run the same command again to go on")
		torn := append(envtest.Must(os.ReadFile(path)), `{"number":`...) // as kill -9 leaves it
		require.NoError(t, os.WriteFile(path, torn, 0o600))
	}
	require.Equal(t, string(envtest.Must(os.ReadFile(filepath.Join(whole, journalFile)))), string(envtest.Must(os.ReadFile(path))))
	require.Equal(t, 24, climb(t, blocking.Game, dir, 4, specs...).Games)
	require.Equal(t, 24, climb(t, blocking.Game, dir, 1, specs...).Games, "what was played counts")

	others := envtest.Failed(ladder(blocking.Game, dir, 4, "first", "random", "hand:ply=1"))
	require.ErrorContains(t, others, "is of other entrants")
	old := filepath.Join(t.TempDir(), "old")
	put(t, filepath.Join(old, journalFile), `{"a":0,"b":1,"round":0,"wins":2}`+"\n")
	require.ErrorContains(t, envtest.Failed(ladder(blocking.Game, old, 4, specs...)), "journal.jsonl: line 1")
}
