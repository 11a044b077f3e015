package match

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/blocking"
)

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
