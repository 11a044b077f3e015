package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every duration is counted in the first bucket whose bound it does not exceed.
func TestDurations(t *testing.T) {
	for _, took := range []time.Duration{
		-time.Second, 0, 1, 4096, 4097, 8192, time.Millisecond, time.Second, 1 << 34, 1<<34 + 1, time.Hour,
	} {
		var d Timings
		d.Observe(took)
		count, sum, upTo := d.Read()
		require.Equal(t, []any{uint64(1), took}, []any{count, sum})
		require.Len(t, upTo, 23)
		for bound, n := range upTo {
			require.Equal(t, took.Seconds() <= bound, n == 1, "%v of at most %v s", took, bound)
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { new(Timings).Observe(time.Second) }), "on the stack")
}
