package network

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"

	"blockyard/datasets/program"
	"blockyard/env/envtest"
)

// A twin is the graph of a Trainer's network built from gorgonia's own operations, over a copy of its weights: matrix
// product, bias, leaky rectifier and loss, with gorgonia's derivatives and its Adam. All its batches have the same size.
type twin struct {
	x, y    []float32
	weights [][]float32
	nodes   G.Nodes
	cost    G.Value
	vm      G.VM
}

func newTwin(tb testing.TB, tr *Trainer, batch int) *twin {
	sizes := tr.config.Sizes
	w := &twin{x: make([]float32, batch*sizes[0]), y: make([]float32, batch)}
	g := G.NewGraph()
	h, last := column(g, "x", batch, sizes[0], w.x), len(sizes)-2
	for i := range last + 1 {
		for k, rows := range []int{sizes[i], 1} {
			w.weights = append(w.weights, slices.Clone(tr.weights[2*i+k]))
			w.nodes = append(w.nodes, column(g, fmt.Sprint("weights ", 2*i+k), rows, sizes[i+1], w.weights[2*i+k]))
		}
		h = G.Must(G.BroadcastAdd(G.Must(G.Mul(h, w.nodes[2*i])), w.nodes[2*i+1], nil, []byte{0}))
		if i < last {
			h = G.Must(G.LeakyRelu(h, slope))
		}
	}
	y := column(g, "y", batch, 1, w.y)
	var loss *G.Node
	if tr.config.Loss == Square {
		loss = G.Must(G.Square(G.Must(G.Sub(h, y))))
	} else {
		loss = G.Must(G.Sub(G.Must(G.Softplus(h)), G.Must(G.HadamardProd(y, h))))
	}
	cost := G.Must(G.Mean(loss))
	G.Read(cost, &w.cost)
	envtest.Must(G.Grad(cost, w.nodes...))
	w.vm = G.NewTapeMachine(g, G.BindDualValues(w.nodes...))
	tb.Cleanup(func() { require.NoError(tb, w.vm.Close()) })
	return w
}

// fit takes a step of gorgonia's solver on a full batch.
func (w *twin) fit(tb testing.TB, solver G.Solver, x, y []float32) {
	copy(w.x, x)
	copy(w.y, y)
	require.NoError(tb, w.vm.RunAll())
	require.NoError(tb, solver.Step(G.NodesToValueGrads(w.nodes)))
	w.vm.Reset()
}

// TestTwinOfGorgoniasOperations trains two networks with the same first weights on the same batches, full ones and others:
// one by a Trainer, one built from nothing but gorgonia's operations, derivatives and solver. Their losses are equal, and
// so are the outputs of the Trainer's graph and of its network as it plays. After 50 steps the weights of both are equal
// to 1e-5, and have moved much further than that.
func TestTwinOfGorgoniasOperations(t *testing.T) {
	const steps, rate = 50, 1e-3
	for _, c := range []Config{
		{Sizes: []int{40, 64, 32, 1}, Batch: 64, Seed: 7},
		{Sizes: []int{40, 64, 32, 1}, Batch: 64, Seed: 7, Loss: Square},
		{Sizes: []int{13, 1}, Batch: 32, Seed: 8},
	} {
		for _, rows := range []int{c.Batch, c.Batch/2 + 1} {
			ours := trainer(t, c)
			theirs := newTwin(t, ours, rows)
			before, out := slices.Concat(theirs.weights...), make([]float32, rows)
			solver := G.NewAdamSolver(G.WithLearnRate(rate))
			for step := range steps {
				x, y := batch(uint64(step), rows, c.Sizes[0])
				envtest.Must(ours.Net()).Forward(x, rows, out)
				cost := envtest.Must(ours.Fit(x, y, rate))
				theirs.fit(t, solver, x, y)
				require.InDelta(t, theirs.cost.Data(), cost, 1e-5)
				require.InDeltaSlice(t, out, ours.graph.out.Data().([]float32)[:rows], 1e-4)
			}
			after, moved := slices.Concat(ours.weights...), 0
			for i, w := range slices.Concat(theirs.weights...) {
				require.InDelta(t, w, after[i], 1e-5, "%v %s, weight %d", c.Sizes, c.Loss, i)
				if d := after[i] - before[i]; d > 1e-3 || d < -1e-3 {
					moved++
				}
			}
			require.Greater(t, moved, len(before)/2, "%v %s: weights that training moved", c.Sizes, c.Loss)
		}
	}
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
			began := envtest.Must(program.CPU())
			for b.Loop() {
				step(x, y)
			}
			b.ReportMetric(float64(b.N*c.Batch)/(envtest.Must(program.CPU())-began).Seconds(), "rows/core-s")
		})
	}
}

// BenchmarkFit trains as self-play does. bench/learner.py of the Python client compares it with PyTorch.
func BenchmarkFit(b *testing.B) {
	measure(b, func(b *testing.B, tr *Trainer) func(x, y []float32) {
		return func(x, y []float32) { envtest.Must(tr.Fit(x, y, 1e-3)) }
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
