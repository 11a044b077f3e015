//go:build unix

package library

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/wintetris"
)

// benchSolver is the example in C, which has little to compute after a piece's first tick.
func benchSolver(b *testing.B) string { return built(b, "../../submit/wintetris/examples/solver.c") }

// BenchmarkProcess is a tick asked of a library in its own process.
func BenchmarkProcess(b *testing.B) {
	ctx := context.Background()
	p, err := Start(ctx, Config{File: benchSolver(b)})
	require.NoError(b, err)
	defer p.Close()
	require.NoError(b, p.Open(ctx, ""))
	var e wintetris.Engine
	e.Start(1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Update(ctx, &e.Field, e.Piece, e.Upcoming(), false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLibrary is the same call without a process between.
func BenchmarkLibrary(b *testing.B) {
	l, err := load(benchSolver(b))
	require.NoError(b, err)
	require.Zero(b, l.answer(&request{Function: "wt_open"}))
	var e wintetris.Engine
	e.Start(1)
	b.ReportAllocs()
	for b.Loop() {
		a := l.answer(&request{Function: "wt_update", Field: e.Field, Now: e.Piece, Next: e.Upcoming()})
		if a.Code < 0 {
			b.Fatal(a.Text)
		}
	}
}
