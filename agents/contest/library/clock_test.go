package library

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHungTicks: a piece hangs where the answer takes longer than a tick of the level, 500 ms at first and 50 at last.
func TestHungTicks(t *testing.T) {
	var r Result
	for _, c := range []struct {
		took  time.Duration
		level int
		hung  int
	}{
		{499 * time.Millisecond, 1, 0}, {501 * time.Millisecond, 1, 1}, {451 * time.Millisecond, 2, 2},
		{449 * time.Millisecond, 2, 2}, {51 * time.Millisecond, 147, 3}, {49 * time.Millisecond, 147, 3},
	} {
		r.clock(c.took, c.level)
		require.Equal(t, c.hung, r.Hung, "%v at level %d", c.took, c.level)
	}
	require.Equal(t, 501.0, r.LongestMS)
}
