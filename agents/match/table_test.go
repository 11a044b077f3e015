package match

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/blocking"
)

// The row of a program that never answers shows its time-outs.
// TestWhoHasNotPlayedStandsApart: behind all others, without a place and without results.
func TestWhoHasNotPlayedStandsApart(t *testing.T) {
	r := ReportOf(blocking.Game, "1", []string{"new", "loser", "winner"}, []Played{{Seats: []int{1, 2}, Ranks: []int{2, 1}, Points: []int{3, 9}}})
	r.Played = nil
	slices.SortFunc(r.Players, Better)
	require.Equal(t, "new", r.Players[2].Name)
	require.Regexp(t, `(?m)^ +1 +winner +1 +1 +0 +0 +100\.0 %`, r.String())
	require.Regexp(t, `(?m)^ +new +0 *$`, r.String())
}

func TestTableCountsWithoutAnswers(t *testing.T) {
	cells := map[string]string{}
	for _, c := range new(Report).cells(1, &Standing{Program: &Answers{Timeouts: 2, Ended: 1, UsedMS: 1500}}) {
		cells[c[0]] = c[1]
	}
	require.Equal(t, []string{"0", "2", "0", "1", "", ""}, []string{cells["answers"], cells["time-outs"], cells["remarks"],
		cells["ended"], cells["ms per answer"], cells["ms per game"]})
}
