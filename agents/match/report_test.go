package match

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/blocking"
)

// The intervals hold the ratings that results were drawn from, more or less 95 % of them.
func TestRatings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	truth := []float64{150, 60, 0, -60, -150}
	inside, all := 0, 0
	for range 40 {
		r := NewResults(len(truth))
		for range 60 {
			for a := range truth {
				for b := range a {
					half := 0
					if rng.Float64() < Expected(truth[a]-truth[b]) {
						half = 2
					}
					r.Add(a, b, half)
				}
			}
		}
		for k, elo := range r.Elo() {
			all++
			if elo.Low <= truth[k] && truth[k] <= elo.High {
				inside++
			}
		}
	}
	require.InDelta(t, 0.95, float64(inside)/float64(all), 0.04)
}

// Ratings are finite without games, for one player, and for who won everything.
func TestRatingsOfLittle(t *testing.T) {
	require.Empty(t, NewResults(0).Elo())
	require.Equal(t, []Estimate{{}}, NewResults(1).Elo())
	for _, e := range NewResults(3).Elo() {
		require.Zero(t, e.Value)
	}
	r := NewResults(2)
	for range 50 {
		r.Add(1, 0, 2)
	}
	elo := r.Elo()
	require.Greater(t, elo[1].Low, elo[0].High)
	require.Less(t, elo[1].High, 2000.0)
}

// Where finite ratings make the results most likely, they are those: each player's points are those that its ratings
// expect. Two players have the difference of their score, however few their games are.
func TestRatingsAreTheMostLikely(t *testing.T) {
	for _, c := range [][3]int{{1, 0, 1}, {3, 0, 1}, {15, 2, 3}, {0, 1, 5}, {19, 0, 1}} {
		r := NewResults(2)
		for half, n := range []int{c[2], c[1], c[0]} {
			for range n {
				r.Add(0, 1, half)
			}
		}
		elo := r.Elo()
		require.InDelta(t, Elo(r.Of(0).Share()), elo[0].Value-elo[1].Value, 0.01, "%v", c)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	r := NewResults(4)
	for k := range 40 {
		r.Add(k%4, (k%4+1+rng.IntN(3))%4, rng.IntN(3))
	}
	elo := r.Elo()
	for a := range elo {
		want := 0.
		for b := range elo {
			want += float64(r.Meeting(a, b).Total()) * Expected(elo[a].Value-elo[b].Value)
		}
		require.InDelta(t, want, r.Of(a).Points(), 1e-3)
	}
}

// TestWhoHasNotPlayedStandsApart: behind all others, without a place and without results.
func TestWhoHasNotPlayedStandsApart(t *testing.T) {
	r := ReportOf(blocking.Game, "1", []string{"new", "loser", "winner"}, []Played{{Seats: []int{1, 2}, Ranks: []int{2, 1}, Points: []int{3, 9}}})
	r.Played = nil
	slices.SortFunc(r.Players, Better)
	require.Equal(t, "new", r.Players[2].Name)
	require.Regexp(t, `(?m)^ +1 +winner +1 +1 +0 +0 +100\.0 %`, r.String())
	require.Regexp(t, `(?m)^ +new +0 *$`, r.String())
}

// The row of a program that never answers shows its time-outs.
func TestTableCountsWithoutAnswers(t *testing.T) {
	cells := map[string]string{}
	for _, c := range new(Report).cells(1, &Standing{Program: &Answers{Timeouts: 2, Ended: 1, UsedMS: 1500}}) {
		cells[c[0]] = c[1]
	}
	require.Equal(t, []string{"0", "2", "0", "1", "", ""}, []string{cells["answers"], cells["time-outs"], cells["remarks"],
		cells["ended"], cells["ms per answer"], cells["ms per game"]})
}

// The table of a contest fits a terminal of 100 columns: what has no room follows below, with the players again.
func TestTableFitsTheTerminal(t *testing.T) {
	r := &Report{Played: []Played{}, Players: []Standing{
		{Name: "A", Points: new(Points), Program: &Answers{Answers: 25, Times: new(Times)},
			Faults: map[string]int{"overflow": 1}},
		{Name: "B", Points: new(Points), Program: &Answers{Answers: 25, Times: new(Times)}},
	}}
	text := r.table()
	require.Contains(t, text, "longest ms")
	require.Equal(t, 2, strings.Count(text, "player"))
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len(line), widest+1, line)
	}
}
