//go:build unix

package registry

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/games"
)

// BenchmarkDecide times one choice of the default searches, in positions of a game between shallow searches. cpu-ns/op
// is CPU time, which a busy machine changes little. Two commits that play alike evaluate the same positions, so the
// ratio of their figures is that of evaluations per CPU second; the target bench-against of the Makefile prints it.
func BenchmarkDecide(b *testing.B) {
	for _, g := range games.All {
		if strings.Contains(g.Name, ":") {
			continue // a variant of the game before it
		}
		for _, spec := range []string{"hand", "learned"} {
			b.Run(g.Name+"/"+spec, func(b *testing.B) {
				list := middles(b, g)
				f, err := Parse(g, spec)
				require.NoError(b, err)
				a, err := f(1)
				require.NoError(b, err)
				s := g.New(g.MinSeats)
				decide := func(i int) {
					s.CopyFrom(list[i%len(list)])
					if _, err := a.Act(context.Background(), s, s.Acting().First()); err != nil {
						b.Fatal(err)
					}
				}
				for i := range list { // the memory of the search grows
					decide(i)
				}
				n, start := 0, cpuTime(b)
				b.ReportAllocs()
				for b.Loop() {
					decide(n)
					n++
				}
				b.ReportMetric(float64(cpuTime(b)-start)/float64(n), "cpu-ns/op")
			})
		}
	}
}

// middles returns positions of one game of g, as the acting seat sees them.
func middles(tb testing.TB, g *env.Game) (list []env.State) {
	tb.Helper()
	f, err := Parse(g, "hand:ply=1")
	if err != nil { // the game has a search of its own
		f, err = Parse(g, "hand")
	}
	require.NoError(tb, err)
	a, err := f(1)
	require.NoError(tb, err)
	s, view := g.New(g.MinSeats), g.New(g.MinSeats)
	s.Reset(3)
	for ply := 0; ply < 60 && s.Acting() != 0; ply++ {
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			env.View(view, s, set.First(), uint64(ply))
			if m[set.First()], err = a.Act(context.Background(), view, set.First()); err != nil {
				tb.Fatal(err)
			}
		}
		if ply%4 == 1 {
			at := g.New(g.MinSeats)
			env.View(at, s, s.Acting().First(), uint64(ply))
			list = append(list, at)
		}
		require.NoError(tb, env.Apply(g, s, m))
	}
	return list
}

// cpuTime returns the CPU time that the process has used.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
