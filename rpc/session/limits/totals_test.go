package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every duration is counted in the first bucket whose bound it does not exceed.
func TestDurations(t *testing.T) {
	bounds := Durations{}
	for _, took := range []time.Duration{
		-time.Second, 0, 1, 4096, 4097, 8192, time.Millisecond, time.Second, 1 << 34, 1<<34 + 1, time.Hour,
	} {
		var d Timings
		d.Observe(took)
		got := d.Read()
		require.Equal(t, took, got.Sum)
		want := len(got.Buckets) - 1
		for k := want - 1; k >= 0 && took <= bounds.Bound(k); k-- {
			want = k
		}
		for k, n := range got.Buckets {
			require.Equal(t, k == want, n == 1, "%v in bucket %d", took, k)
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { new(Timings).Observe(time.Second) }), "on the stack")
}
