//go:build unix

package network

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// cpuTime is what this process has used of all cores so far.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fits are the networks of the benchmarks, and the rows of their batches.
var fits = []Config{
	{Sizes: []int{250, 128, 64, 1}, Batch: 1024},
	{Sizes: []int{141, 64, 1}, Batch: 256},
	{Sizes: []int{40, 64, 32, 1}, Batch: 256},
}

// measure takes optimiser steps on a batch for each of fits. rows/core-s counts rows for each second of one core's work,
// as the operating system accounts it.
func measure(b *testing.B, start func(*testing.B, *Trainer) (step func(x, y []float32))) {
	for _, c := range fits {
		b.Run(fmt.Sprintf("%v/batch=%d", c.Sizes, c.Batch), func(b *testing.B) {
			step := start(b, trainer(b, c))
			x, y := batch(1, c.Batch, c.Sizes[0])
			b.ReportAllocs()
			began := cpuTime(b)
			for b.Loop() {
				step(x, y)
			}
			b.ReportMetric(float64(b.N*c.Batch)/(cpuTime(b)-began).Seconds(), "rows/core-s")
		})
	}
}

// BenchmarkFit trains as self-play does. bench/learner.py of the Python client compares it with PyTorch.
func BenchmarkFit(b *testing.B) {
	measure(b, func(b *testing.B, tr *Trainer) func(x, y []float32) {
		return func(x, y []float32) {
			_, err := tr.Fit(x, y, 1e-3)
			require.NoError(b, err)
		}
	})
}

// BenchmarkTwin trains the same networks with gorgonia's own operations and solver: what those of this package gain is
// BenchmarkFit divided by it.
func BenchmarkTwin(b *testing.B) {
	measure(b, func(b *testing.B, tr *Trainer) func(x, y []float32) {
		w, solver := newTwin(b, tr, tr.config.Batch), G.NewAdamSolver(G.WithLearnRate(1e-3))
		return func(x, y []float32) { w.fit(b, solver, x, y) }
	})
}
