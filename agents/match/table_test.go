package match

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The row of a program that never answers shows its time-outs.
func TestTableCountsWithoutAnswers(t *testing.T) {
	cells := map[string]string{}
	for _, c := range new(Report).cells(1, &Standing{Program: &Answers{Timeouts: 2, Ended: 1, UsedMS: 1500}}) {
		cells[c[0]] = c[1]
	}
	require.Equal(t, []string{"0", "2", "0", "1", "", ""}, []string{cells["answers"], cells["time-outs"], cells["remarks"],
		cells["ended"], cells["ms per answer"], cells["ms per game"]})
}
