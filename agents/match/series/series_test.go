package series

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/dropblox"
	"blockyard/env/envtest"
	"blockyard/env/tetrisduel"
)

func TestSeatings(t *testing.T) {
	require.Equal(t, [][]int{{0, 1}, {1, 0}}, Seatings(2, false))
	require.Equal(t, [][]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}, Seatings(3, false))
	all := Seatings(4, true)
	require.Len(t, all, 24)
	seen := map[string]bool{}
	for _, order := range all {
		seen[fmt.Sprint(order)] = true
		require.ElementsMatch(t, []int{0, 1, 2, 3}, order)
	}
	require.Len(t, seen, 24)
}

// More games won decide a match, then, in contests with one time for a game, the time left.
func TestWinner(t *testing.T) {
	limits := contest.TotalBudget(20 * time.Second)
	played := func(winner int, reason string, left ...time.Duration) match.Played {
		g := match.Played{Seed: "1", Seats: []int{0, 1}}
		for _, d := range left {
			g.Tallies = append(g.Tallies, contest.Tally{Bank: contest.Bank{Limits: limits, Left: d}})
		}
		new(Lines).note(&g, contest.Outcome{Winner: winner, Reason: reason, Points: []int{3, 4}})
		return g
	}
	series := func(games ...match.Played) *Series {
		return &Series{Names: []string{"a", "b"}, Rules: tetrisduel.Game, Games: games, played: games}
	}
	for _, c := range []struct {
		game match.Played
		want string
	}{
		{played(0, "", 1, 9), "A"}, {played(1, "", 9, 1), "B"},
		{played(contest.Nobody, "", 9, 1), "A"}, {played(contest.Nobody, "", 1, 9), "B"},
		{played(contest.Nobody, "", 1, 1), "none"},
	} {
		require.Equal(t, c.want, series(c.game).Report().Winner)
	}
	s := series(played(contest.Nobody, "limit", time.Second, 2*time.Second), played(1, "timeout", time.Second, 2*time.Second))
	s.played[1].Seats = []int{1, 0}
	r := s.Report()
	m := r.Meetings[0]
	require.Equal(t, match.Counts{Wins: 1, Draws: 1}, m.Counts)
	require.Equal(t, &match.Pairs{0, 0, 0, 1, 0}, m.Pairs)
	require.Equal(t, map[string]int{"timeout": 1}, r.Players[1].Faults)
	require.Empty(t, r.Players[0].Faults)
	require.Equal(t, []float64{3, 3}, []float64{*r.Players[0].Program.LeftS, *r.Players[1].Program.LeftS})
	require.Equal(t, []int{2, 1}, r.Played[1].Ranks)
	require.Equal(t, "A", r.Winner)
	require.Contains(t, r.String(), "\na won 1, drew 1 and lost 0 of 2 games against b: 75.0 %")
}

// A chanceless runner plays the same game with any seed: who moves first wins, except in game 5.
type chanceless struct{}

func (chanceless) Play(_ context.Context, g *match.Played) (*record.Record, error) {
	state := envtest.Start[env.State](tetrisduel.Game, 2, 1)
	rec := record.New(tetrisduel.Game, 1, []string{match.Letter(g.Seats[0]), match.Letter(g.Seats[1])})
	if rec.End(state); g.Number == 4 {
		rec.Seed = 2
	}
	new(Lines).note(g, contest.Outcome{Winner: 0, Points: []int{1, 0}})
	g.UsedMS, g.MostMS = []float64{10, 10}, []float64{float64(g.Number), 1}
	return rec, nil
}

// TestRepeatedPairsCountOnce: pairs that repeat another one move for move are no samples, and the report says so. What
// the programs did in them counts.
func TestRepeatedPairsCountOnce(t *testing.T) {
	s := Series{Rules: tetrisduel.Game, Names: []string{"a", "b"}, Games: Seated(20, Seatings(2, false), 1, false),
		Runner: chanceless{}, Done: func(int) {}}
	envtest.Must(s.Play(t.Context()))
	for range 2 { // a report changes nothing
		r := s.Report()
		m := r.Meetings[0]
		require.Equal(t, []int{4, 16, 3, 20}, []int{r.Games, r.Repeated, r.Distinct, len(r.Played)})
		require.Equal(t, []int{2, 4}, []int{m.Pairs.N(), m.Total()})
		require.Equal(t, []float64{10, 19}, []float64{r.Players[1].Program.UsedMS, r.Players[1].Program.MostMS})
		require.Contains(t, r.String(), "16 more games repeat one of them move for move, and do not count\n")
	}
}

// A liar is a referee of games that end at once, by points that nobody has won.
type liar struct{ contest.Referee }

func (liar) Names() []string          { return []string{"player1", "player2"} }
func (liar) Round() (string, []int)   { return "", nil }
func (liar) Outcome() contest.Outcome { return contest.Outcome{Winner: 0, Points: []int{5, 0}} }

// TestAGameThatIsNotProven is neither counted nor recorded, and the report names it.
func TestAGameThatIsNotProven(t *testing.T) {
	var kept bytes.Buffer
	w := record.NewWriter(&kept)
	s := Series{
		Rules: tetrisduel.Game, Names: []string{"a", "b"}, Games: Seated(2, Seatings(2, false), 1, false), Record: w,
		Runner: &Lines{
			Rules: tetrisduel.Game, Player: func(int) contest.Player { return contest.Player{} },
			Setup: &contest.Setup{New: func(env.State, func(env.Seats, env.Moves)) (contest.Host, bool) {
				return contest.Host{Referee: liar{}, StartOnTurn: true}, false
			}},
		},
		Done: func(int) {},
	}
	n := envtest.Must(s.Play(t.Context()))
	require.NoError(t, w.Close())
	require.Zero(t, n)
	require.Zero(t, kept.Len())
	r := s.Report()
	require.Zero(t, r.Games)
	require.Contains(t, r.String(), "\ndoes not count: game 2: seat 1 has 5 points, 0 by its record\n")
}

func TestTimes(t *testing.T) {
	s := Series{Names: []string{"a"}, Rules: tetrisduel.Game}
	for _, x := range []contest.Tally{
		{}, {Bank: contest.Bank{Used: 30e6, Longest: 20e6}, Answers: 2}, {Bank: contest.Bank{Used: 10e6, Longest: 10e6}, Answers: 2},
	} {
		g := match.Played{Seats: []int{0}, Tallies: []contest.Tally{x}}
		new(Lines).note(&g, contest.Outcome{Points: []int{0}})
		s.played = append(s.played, g)
	}
	p := s.Report().Players[0].Program
	require.Equal(t, []float64{10, 20}, []float64{p.AnswerMS, p.MostMS})
	require.InDelta(t, 40./3, p.UsedMS, 1e-9)
}

// TestRecordsSayWhatDecidedAGame: why it ended, the faults of both players, and whose the time was.
func TestRecordsSayWhatDecidedAGame(t *testing.T) {
	g := &match.Played{Names: []string{"player1", "player2"}, Tallies: []contest.Tally{
		{Bank: contest.Bank{Limits: contest.Limits{Timeouts: 2}, Timeouts: 2}, Gone: true}, {}}}
	meta := (&Lines{Clock: contest.Wall}).meta(g, contest.Outcome{Winner: 1, Reason: "overflow"})
	require.Equal(t, map[string]string{"reason": "overflow", "fault of player1": "too many time-outs", "clock": "wall",
		"time of player1": contest.Usage{}.String(), "time of player2": contest.Usage{}.String()}, meta)
	meta["tie break"] = "less time used"
	rec := record.Record{Meta: meta, Agents: []string{"exec:a", "exec:"}}
	require.Equal(t, "overflow, less time used, player1: too many time-outs", rec.Decided())
	require.Equal(t, []string{"a", ""}, rec.Names())
	require.Empty(t, new(record.Record).Decided())
}

func TestLetters(t *testing.T) {
	for bot, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 51: "AZ", 52: "BA"} {
		require.Equal(t, want, match.Letter(bot))
	}
}

// TestTheEndOfALog: what a bot writes to standard error after its game is counted and not kept.
func TestTheEndOfALog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "logs", "game.log")
	f := envtest.Must(createLog(func(*match.Played) string { return name }, nil))
	var shown bytes.Buffer
	l := newLog(f, &shown)
	l.names = []string{"player1", "player2"}
	l.line(contest.Error, 1, "thinking")
	l.line(contest.Over, -1, "")
	l.line(contest.Error, 1, "EOFError")
	l.line(contest.Error, 1, "bye")
	require.NoError(t, l.end(nil))
	text := envtest.Must(os.ReadFile(name))
	require.Equal(t, "player2 ! thinking\nplayer2 * 2 lines of standard error after the end of the game are not kept\n", string(text))
	require.Equal(t, "player2: thinking\n", shown.String())
}

// TestAGameThatTheMachineDecides does not count and is played again, up to three times. Then it is void, and the table
// says so.
func TestAGameThatTheMachineDecides(t *testing.T) {
	for stalls := range 4 {
		g, begun := match.Played{Number: 4, Seats: []int{0, 1}}, 0
		require.NoError(t, attempts(&g, func() error {
			require.Zero(t, g.Rounds, "each attempt begins anew")
			g.Points, g.Ranks, g.Rounds = []int{0, 0}, []int{1, 1}, 7
			if begun++; begun <= stalls {
				return fmt.Errorf("player1: %w", contest.ErrStalled)
			}
			g.Points, g.Ranks = []int{1, 0}, []int{1, 2}
			return nil
		}))
		require.Equal(t, stalls, g.Stalled)
		require.Equal(t, min(stalls+1, 3), begun)
		require.Equal(t, stalls == 3, g.Void != "")
		r := match.ReportOf(tetrisduel.Game, "1", []string{"a", "b"}, []match.Played{g})
		require.Equal(t, stalls < 3, r.Players[0].Wins == 1)
		require.Equal(t, stalls > 0, strings.Contains(r.String(), fmt.Sprintf("%d attempts at games do not count", stalls)))
		require.Equal(t, stalls == 3, strings.Contains(r.String(), "game 5: the machine was overloaded in 3 attempts"))
	}
	trouble := errors.New("trouble")
	require.ErrorIs(t, attempts(&match.Played{}, func() error { return trouble }), trouble)
}

// TestTheTableSaysThatTheMachineWasBusy if programs waited for a processor for a fifth of their time in a game.
func TestTheTableSaysThatTheMachineWasBusy(t *testing.T) {
	g := match.Played{Seats: []int{0, 1}, Ranks: []int{1, 2}, UsedMS: []float64{81, 200}, MostMS: []float64{9, 9},
		Times: []match.Times{{WallMS: 100, CPUMS: 80, WaitedMS: 19}, {WallMS: 200}}}
	report := func() *match.Report {
		return match.ReportOf(tetrisduel.Game, "1", []string{"a", "b"}, []match.Played{g, g})
	}
	require.Empty(t, report().Overload())
	g.Times[1].WaitedMS, g.Times[1].HostMS = 40, 2
	require.Equal(t, "the machine was overloaded in 2 of 2 games: programs waited for a processor", report().Overload())
	require.Equal(t, &match.Times{WallMS: 200, WaitedMS: 40, HostMS: 2}, report().Players[1].Program.Times)
	envtest.Has(t, report().String(), "waited ms", report().Overload())
}

// How long the points took counts in the games that reached them, and is compared where both programs did.
func TestReached(t *testing.T) {
	s := Series{Names: []string{"a", "b", "c"}, Rules: dropblox.Game, Games: Alone(3, []string{"1", "2", "3"})}
	for i, seconds := range []float64{10, 12, 0, 20, 22, 0, 0, 14, 0} {
		g := s.Games[i]
		require.Equal(t, []int{i % 3}, g.Seats)
		g.After, g.Ranks, g.Faults = []float64{seconds}, []int{1}, []string{""}
		if g.Points, g.Reason = []int{0}, "blocked"; seconds > 0 {
			g.Points, g.Reason = []int{500}, "points"
		}
		s.played = append(s.played, g)
	}
	r := s.Report()
	r.Settings = map[string]string{"seconds": "60", "points": "500"}
	require.Equal(t, 15.0, r.Players[0].Reached.Value)
	require.Equal(t, 16.0, r.Players[1].Reached.Value)
	require.Nil(t, r.Players[2].Reached)
	require.Len(t, r.Meetings, 3)
	require.Equal(t, -2.0, r.Meetings[0].Later.Value, "a reached them earlier than b")
	require.Nil(t, r.Meetings[1].Later)
	require.Equal(t, match.Counts{Draws: 2, Losses: 1}, r.Meetings[0].Counts)
	require.Equal(t, map[string]int{"blocked": 1, "points": 2}, r.Players[0].Ends)
	text := r.String()
	envtest.Has(t, text, "dropblox, seed : 9 games, 60 s a game, until 500 points\n",
		"\nA: 500 points after 15.0 (-48.5 to 78.5) s of the clock, in 2 of 3 games\n",
		"\na won 0, drew 2 and lost 1 of 3 games against b: 33.3 %", " points a seed; -2.0 s later\n")
}
