//go:build unix

package bots

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/tetrisduel"
	"blockyard/env/vec"
)

// BenchmarkDecide times one choice of the default searches, in positions of a game between shallow searches. cpu-ns/op
// is CPU time, which a busy machine changes little. Two commits that play alike evaluate the same positions, so the
// ratio of their figures is that of evaluations per CPU second. `make bench-against BASE=COMMIT` prints it for the
// benchmarks of this file, and `make bench-goals` beside the goals; rpc/bench/README.md has the figures.
func BenchmarkDecide(b *testing.B) {
	for _, e := range All {
		for _, spec := range []string{"hand", "learned"} {
			b.Run(e.Game+"/"+spec, func(b *testing.B) { benchmarkChoice(b, lookup(e.Game), spec) })
		}
	}
}

// BenchmarkOpponents is BenchmarkDecide for every agent that a trainer can play against, each with its cheapest search
// and with the one that it has by default.
func BenchmarkOpponents(b *testing.B) {
	for _, e := range All {
		g := lookup(e.Game)
		for _, name := range Names(g) {
			for _, options := range []string{":ply=1", ":depth=1,width=1", ""} {
				if _, err := New(g, Own(name+options)); err == nil {
					b.Run(g.Name+"/"+name+options, func(b *testing.B) { benchmarkChoice(b, g, name+options) })
				}
			}
		}
	}
}

// benchmarkChoice times one choice of an agent.
func benchmarkChoice(b *testing.B, g *env.Game, spec string) {
	b.Helper()
	list := middles(b, g)
	a := agent(b, g, spec, 1)
	s := g.New(g.MinSeats)
	decide := func(i int) {
		s.CopyFrom(list[i%len(list)])
		act(a, s, s.Acting().First())
	}
	for i := range list { // the memory of the search grows
		decide(i)
	}
	n := 0
	reportCPU(b, func() {
		decide(n)
		n++
	})
}

// BenchmarkStep times a step of 1,024 games against an agent: the driven seat plays at random.
func BenchmarkStep(b *testing.B) {
	for _, g := range []*env.Game{blockbattle.Game, tetrisduel.Game} {
		for _, spec := range []string{"hand", "learned"} {
			b.Run(g.Name+"/"+spec, func(b *testing.B) { benchmarkStep(b, g, spec) })
		}
	}
}

func benchmarkStep(b *testing.B, g *env.Game, spec string) {
	b.Helper()
	f := factory(b, g, spec)
	e := envtest.Must(vec.New(g, vec.Config{Envs: 1024, Agents: []vec.AgentFactory{nil, vec.AgentFactory(f)}}))
	defer e.Close()
	out := envtest.Must(e.NewBatch())
	require.NoError(b, e.Reset(vec.From(1), nil, out))
	actions := make([]env.Action, 1024*e.Rows())
	step := func() {
		require.NoError(b, e.Sample(actions))
		require.NoError(b, e.Step(actions, out))
	}
	step()
	reportCPU(b, step)
}

// reportCPU runs f as often as b wants, and reports the CPU time of one run as cpu-ns/op.
func reportCPU(b *testing.B, f func()) {
	b.Helper()
	b.ReportAllocs()
	n, start := 0, cpuTime(b)
	for b.Loop() {
		f()
		n++
	}
	b.ReportMetric(float64(cpuTime(b)-start)/float64(n), "cpu-ns/op")
}

// middles returns positions of one game of g, as the acting seat sees them.
func middles(tb testing.TB, g *env.Game) (list []env.State) {
	tb.Helper()
	a := agent(tb, g, searches(g, "ply=1", "")[0], 1) // its default search where that takes no ply
	s := envtest.Start[env.State](g, g.MinSeats, 3)
	walk(tb, g, s, 60, func(view env.State, seat, ply int) env.Action {
		if ply%4 == 1 && seat == s.Acting().First() {
			at := g.New(g.MinSeats)
			at.CopyFrom(view)
			list = append(list, at)
		}
		return act(a, view, seat)
	})
	return list
}

// cpuTime returns the CPU time that the process has used.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLayers is BenchmarkDecide for networks of Block Battle with one hidden layer, and with a second one of 32
// units. Their weights are random: the actions hardly depend on them, as the positions are given.
func BenchmarkLayers(b *testing.B) {
	g := blockbattle.Game
	features := Features(g).Names
	for _, hidden := range [][]int{{64}, {64, 32}} {
		file := filepath.Join(b.TempDir(), "net.safetensors")
		sizes := append(append([]int{len(features)}, hidden...), 1)
		save(b, file, toybot.RandomNet(b, 1, sizes...), Of(g).Facts(g, nil))
		b.Run(fmt.Sprint(hidden), func(b *testing.B) { benchmarkChoice(b, g, "learned:weights="+file) })
	}
}
