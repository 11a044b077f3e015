package limits

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// The least limit of a control group and of those above it counts, in both versions.
func TestControlGroups(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		groups string
		files  fstest.MapFS
		want   int64
	}{
		{"", fstest.MapFS{}, Unlimited},
		{"0::/\n", fstest.MapFS{"sys/fs/cgroup/memory.max": file("2147483648\n")}, 2 << 30},
		{"0::/a/b\n", fstest.MapFS{"sys/fs/cgroup/a/b/memory.max": file("max\n"), "sys/fs/cgroup/a/memory.max": file("5\n"),
			"sys/fs/cgroup/memory.max": file("7\n")}, 5},
		{"0::/../elsewhere\n", fstest.MapFS{"sys/fs/cgroup/memory.max": file("9\n")}, 9},
		{"5:cpu:/x\n4:memory:/m\n0::/x\n", fstest.MapFS{"sys/fs/cgroup/memory/m/memory.limit_in_bytes": file("11\n")}, 11},
		{"nonsense\n0::/\n", fstest.MapFS{"sys/fs/cgroup/memory.max": file("nonsense\n")}, Unlimited},
	} {
		c.files["proc/self/cgroup"] = file(c.groups)
		require.Equal(t, c.want, cgroupMemory(c.files), "%q", c.groups)
	}
	require.Equal(t, Unlimited, cgroupMemory(fstest.MapFS{}))
}

// What fits leaves room for what a process takes beyond it: a tenth more or 64 MiB.
func TestMemoryThatFits(t *testing.T) {
	for _, most := range []int64{256 << 20, 512 << 20, 1 << 30, 2 << 30, 64 << 30} {
		fits := fitting(most)
		require.Less(t, fits+max(64<<20, fits/10), most)
		require.GreaterOrEqual(t, fits, most/2)
	}
	require.Equal(t, int64(3<<29), fitting(2<<30))
}

// More memory than fits is allowed and warned of.
func TestMoreMemoryThanFitsWarns(t *testing.T) {
	fits, bound := Fitting()
	warned := func(most int64) string {
		var lines bytes.Buffer
		l := DefaultLimits()
		l.MaxMemory = most
		l.Fit(slog.New(slog.NewTextHandler(&lines, nil)))
		require.Equal(t, most, l.MaxMemory)
		return lines.String()
	}
	require.NotContains(t, warned(fits), "--max-memory")
	require.Contains(t, warned(fits+1), "--max-memory")
	require.Contains(t, warned(fits+1), bound)
	require.NotContains(t, warned(Unlimited), "--max-memory", "who wants no limit knows that there is none")
}
