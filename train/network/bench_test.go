//go:build unix

package network

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cpuTime is what this process has used of all cores so far.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFit takes optimiser steps. rows/core-s counts rows for each second of one core's work, as the operating
// system accounts it. bench/learner.py of the Python client compares it with PyTorch.
func BenchmarkFit(b *testing.B) {
	for _, c := range []Config{
		{Sizes: []int{250, 128, 64, 1}, Batch: 1024},
		{Sizes: []int{141, 64, 1}, Batch: 256},
		{Sizes: []int{40, 64, 32, 1}, Batch: 256},
	} {
		b.Run(fmt.Sprintf("%v/batch=%d", c.Sizes, c.Batch), func(b *testing.B) {
			tr := trainer(b, c)
			x, y := batch(1, c.Batch, c.Sizes[0])
			b.ReportAllocs()
			began := cpuTime(b)
			for b.Loop() {
				if _, err := tr.Fit(x, y, 1e-3); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*c.Batch)/(cpuTime(b)-began).Seconds(), "rows/core-s")
		})
	}
}
