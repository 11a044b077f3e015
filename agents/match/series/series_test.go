package series

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/agents/match"
	"blockyard/env/tetrisduel"
)

func TestSeatings(t *testing.T) {
	require.Equal(t, [][]int{{0, 1}, {1, 0}}, Seatings(2, false))
	require.Equal(t, [][]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}, Seatings(3, false))
	all := Seatings(4, true)
	require.Len(t, all, 24)
	seen := map[string]bool{}
	for _, order := range all {
		seen[list(order)] = true
		require.ElementsMatch(t, []int{0, 1, 2, 3}, order)
	}
	require.Len(t, seen, 24)
}

func TestBotsHaveCommands(t *testing.T) {
	bots, err := Bots([]string{"a b", "c"})
	require.NoError(t, err)
	program := func(argv ...string) contest.Program { return contest.Program{Argv: argv} }
	require.Equal(t, []Bot{{Name: "a b", Program: program("a", "b")}, {Name: "c", Program: program("c")}}, bots)
	_, err = Bots([]string{"a", " "})
	require.EqualError(t, err, "bot 2: no command")
}

// More games won decide a match of the duel, then the time left.
func TestDuelWinner(t *testing.T) {
	for _, c := range []struct {
		wins, losses int
		left         [2]float64
		want         string
	}{
		{3, 2, [2]float64{1, 9}, "A"}, {2, 3, [2]float64{9, 1}, "B"},
		{2, 2, [2]float64{9, 1}, "A"}, {2, 2, [2]float64{1, 9}, "B"}, {2, 2, [2]float64{1, 1}, "none"},
	} {
		h := DuelReport{Standing: match.Standing{Wins: c.wins, Losses: c.losses}}
		h.Bots[0].LeftS, h.Bots[1].LeftS = c.left[0], c.left[1]
		require.Equal(t, c.want, name(h.winner()))
	}
	played := func(seating []int, winner int, reason string) game {
		return game{
			Seating: seating, Played: Played{
				Tallies: make([]contest.Tally, 2),
				Outcome: contest.Outcome{Winner: winner, Reason: reason, Points: []int{0, 0}},
			},
		}
	}
	s := Series{Bots: make([]Bot, 2), Rules: tetrisduel.Game, played: []game{
		played([]int{0, 1}, contest.Nobody, "limit"), played([]int{1, 0}, 0, "timeout"),
	}}
	h := s.Duel(false, []string{"timeout"})
	require.Equal(t, 1, s.played[0].halfPoints())
	require.Equal(t, 0, s.played[1].halfPoints())
	require.Equal(t, map[string]int{"timeout": 1}, h.Bots[0].Lost)
	require.Equal(t, "timeout 1", Counts(h.Bots[0].Lost, h.reasons))
	require.Equal(t, []int{0, 1, 1}, []int{h.Wins, h.Draws, h.Losses})
}

func TestTimes(t *testing.T) {
	var all Times
	all.add(contest.Tally{})
	require.Zero(t, all.MeanMS)
	all.add(contest.Tally{Bank: contest.Bank{Used: 30e6, Longest: 20e6}, Answers: 2})
	all.add(contest.Tally{Bank: contest.Bank{Used: 10e6, Longest: 10e6}, Answers: 2})
	require.Equal(t, []float64{10, 20}, []float64{all.MeanMS, all.MostMS})
}

func TestLetters(t *testing.T) {
	for bot, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 51: "AZ", 52: "BA"} {
		require.Equal(t, want, Letter(bot))
	}
}
