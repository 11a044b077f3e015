package tournament

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

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
		f := envtest.Must(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))
		envtest.Must(f.WriteString(`{"number":`)) // as kill -9 leaves it
		require.NoError(t, f.Close())
	}
	require.Equal(t, string(envtest.Must(os.ReadFile(filepath.Join(whole, journalFile)))), string(envtest.Must(os.ReadFile(path))))
	require.Equal(t, 24, climb(t, blocking.Game, dir, 4, specs...).Games)
	require.Equal(t, 24, climb(t, blocking.Game, dir, 1, specs...).Games, "what was played counts")

	_, err := ladder(blocking.Game, dir, 4, "first", "random", "hand:ply=1")
	require.ErrorContains(t, err, "is of other entrants")
	old := filepath.Join(t.TempDir(), "old")
	require.NoError(t, os.Mkdir(old, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(old, journalFile), []byte(`{"a":0,"b":1,"round":0,"wins":2}`+"\n"), 0o600))
	require.ErrorContains(t, envtest.Failed(ladder(blocking.Game, old, 4, specs...)), "journal.jsonl: line 1")
}
