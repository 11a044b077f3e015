//go:build unix

package vec_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/vec"
)

// cpuTime is what this process has used of all cores so far.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStep steps random games, both seats driven, observation and mask included and
// the random choices too. seat-steps/core-s counts one seat's step in one game for each
// second of one core's work, as the operating system accounts it; seat-steps/s is by the
// clock.
func BenchmarkStep(b *testing.B) {
	for _, g := range contests() {
		for _, n := range []int{64, 1024, 4096} {
			b.Run(fmt.Sprintf("%s/N=%d", g.Name, n), func(b *testing.B) { benchStep(b, g, vec.Config{Envs: n}) })
		}
	}
}

// BenchmarkTrace is BenchmarkStep without the choices, as rpc/bench/run.py steps games over its transports: it plays the
// same 64 steps again and again, with resets that are not timed, into four batches in turn. A trainer that keeps its
// observations does not find them in the cache either.
func BenchmarkTrace(b *testing.B) {
	for _, g := range contests() {
		for _, n := range []int{1, 64, 1024, 4096} {
			b.Run(fmt.Sprintf("%s/N=%d", g.Name, n), func(b *testing.B) { benchTrace(b, g, n) })
		}
	}
}

// BenchmarkMixture is BenchmarkStep with 1,024 games in which agents that do not compute anything have all
// seats but seat 0: the same one in every episode, or one of 16.
func BenchmarkMixture(b *testing.B) {
	for _, g := range contests() {
		if g.MaxSeats == 1 {
			continue
		}
		for _, n := range []int{1, 16} {
			mixtures := make([]vec.Mixture, g.MinSeats)
			for id := range n {
				mixtures[1] = append(mixtures[1], vec.Choice{Agent: newLow, Weight: float64(1 + id), ID: uint16(id)})
			}
			c := vec.Config{Envs: 1024, Mixtures: mixtures}
			b.Run(fmt.Sprintf("%s/opponents=%d", g.Name, n), func(b *testing.B) { benchStep(b, g, c, "opponent") })
		}
	}
}

func benchStep(b *testing.B, g *env.Game, c vec.Config, more ...string) {
	e, _, actions := open(b, g, c)
	names := append([]string{"planes", "globals", "legal", "seat", "reward", "terminated", "truncated"}, more...)
	out := envtest.Must(e.NewBatch(names...))
	require.NoError(b, e.Reset(vec.From(1), nil, out))
	step := func() {
		if e.Sample(actions) != nil || e.Step(actions, out) != nil {
			b.Fatal("a legal step is refused")
		}
	}
	for range 20 { // apart in their games
		step()
	}
	b.ReportAllocs()
	start, n := cpuTime(b), 0
	for b.Loop() {
		step()
		n++
	}
	seatSteps := float64(n * len(actions))
	b.ReportMetric(seatSteps/(cpuTime(b)-start).Seconds(), "seat-steps/core-s")
	b.ReportMetric(seatSteps/b.Elapsed().Seconds(), "seat-steps/s")
}

func benchTrace(b *testing.B, g *env.Game, n int) {
	e, _, _ := open(b, g, vec.Config{Envs: n, Autoreset: vec.SameStep})
	var out [4]*vec.Batch
	for k := range out {
		out[k] = envtest.Must(e.NewBatch())
	}
	reset := func() { require.NoError(b, e.Reset(vec.From(1), nil, out[0])) }
	reset()
	moves := make([][]env.Action, 64)
	for k := range moves {
		moves[k] = make([]env.Action, n*e.Rows())
		require.NoError(b, e.Sample(moves[k]))
		require.NoError(b, e.Step(moves[k], out[k%len(out)]))
	}
	steps, untimed, start := 0, time.Duration(0), cpuTime(b)
	for b.Loop() {
		if steps%len(moves) == 0 {
			before := cpuTime(b)
			b.StopTimer()
			reset()
			b.StartTimer()
			untimed += cpuTime(b) - before
		}
		if e.Step(moves[steps%len(moves)], out[steps%len(out)]) != nil {
			b.Fatal("a legal step is refused")
		}
		steps++
	}
	b.ReportMetric(float64(cpuTime(b)-start-untimed)/float64(steps), "cpu-ns/op")
}
