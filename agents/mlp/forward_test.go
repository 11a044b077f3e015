package mlp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// random makes a net of the given sizes with weights of the usual scale.
func random(tb testing.TB, seed uint64, sizes ...int) *Net {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var layers []Layer
	for i := 0; i+1 < len(sizes); i++ {
		l := Layer{In: sizes[i], Out: sizes[i+1]}
		for range l.In * l.Out {
			l.W = append(l.W, float32(r.NormFloat64()/math.Sqrt(float64(l.In))))
		}
		for range l.Out {
			l.B = append(l.B, float32(r.NormFloat64()/4))
		}
		layers = append(layers, l)
	}
	n, err := New(layers)
	require.NoError(tb, err)
	return n
}

// inputs are numbers of about 0 to 2 with zeros among them, as features are.
func inputs(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float32, n)
	for i := range x {
		if r.IntN(4) > 0 {
			x[i] = float32(r.Float64()*3 - 1)
		}
	}
	return x
}

// slow is the pass as the formula says it, in float64.
func slow(layers []Layer, x []float32) []float64 {
	v := make([]float64, len(x))
	for i := range x {
		v[i] = float64(x[i])
	}
	for i, l := range layers {
		next := make([]float64, l.Out)
		for o := range next {
			next[o] = float64(l.B[o])
			for j := range v {
				next[o] += v[j] * float64(l.W[o*l.In+j])
			}
			if i+1 < len(layers) && next[o] < 0 {
				next[o] *= slope
			}
		}
		v = next
	}
	return v
}

// onBothPaths runs f in plain Go and, where there is one, on the vector path.
func onBothPaths(t *testing.T, f func(t *testing.T)) {
	t.Cleanup(func() { setVector(hasVector) })
	for _, on := range []bool{false, true} {
		if on && !hasVector {
			continue
		}
		t.Run(fmt.Sprintf("vector=%v", on), func(t *testing.T) {
			setVector(on)
			f(t)
		})
	}
}

var shapes = [][]int{
	{5, 1}, {3, 2}, {1, 1, 1}, {100, 32, 1}, {94, 64, 1}, {37, 48, 1}, {40, 64, 32, 1}, {17, 33, 7}, {50, 40, 8, 3},
}

func TestForwardAgreesWithFormula(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		for i, sizes := range shapes {
			n := random(t, uint64(i), sizes...)
			for _, rows := range []int{0, 1, 2, 15, 16, 17, 40} {
				x, out := inputs(uint64(i), rows*n.In()), make([]float32, rows*n.Out())
				n.Forward(x, rows, out)
				for r := range rows {
					want := slow(n.layers, x[r*n.In():(r+1)*n.In()])
					for o := range want {
						require.InDelta(t, want[o], out[r*n.Out()+o], 1e-4, "sizes %v row %d of %d", sizes, r, rows)
					}
				}
			}
		}
	})
}

func TestSplitFirstLayerAgreesWithWhole(t *testing.T) {
	onBothPaths(t, func(t *testing.T) {
		for i, sizes := range shapes {
			n := random(t, uint64(i), sizes...)
			rows := 19
			for own := 0; own <= n.In(); own += 1 + n.In()/3 {
				rest := inputs(uint64(own), n.In()-own)
				mine := inputs(uint64(own)+99, rows*own)
				var whole []float32
				for r := range rows {
					whole = append(append(whole, mine[r*own:(r+1)*own]...), rest...)
				}
				want, got := make([]float32, rows*n.Out()), make([]float32, rows*n.Out())
				n.Forward(whole, rows, want)
				acc := make([]float32, n.AccLen())
				n.Base(rest, own, acc)
				n.ForwardFrom(acc, mine, own, rows, got)
				require.InDeltaSlice(t, want, got, 1e-4, "sizes %v split at %d", sizes, own)
			}
		}
	})
}

// Both paths give the same numbers, whatever the number of rows: what a bot in plain Go
// decides is what the program around it decides.
func TestPathsAgreeExactly(t *testing.T) {
	t.Cleanup(func() { setVector(hasVector) })
	for i, sizes := range shapes {
		n := random(t, uint64(i), sizes...)
		rows, own := 37, n.In()/2
		x, rest := inputs(uint64(i)+7, rows*own), inputs(uint64(i)+8, n.In()-own)
		var got [2][]float32
		for path := range got {
			setVector(path == 1)
			acc, out := make([]float32, n.AccLen()), make([]float32, rows*n.Out())
			n.Base(rest, own, acc)
			n.ForwardFrom(acc, x, own, rows, out)
			got[path] = out
			for r := range rows { // one by one as in a batch
				one := make([]float32, n.Out())
				n.ForwardFrom(acc, x[r*own:], own, 1, one)
				require.Equal(t, out[r*n.Out():(r+1)*n.Out()], one)
			}
		}
		require.Equal(t, got[0], got[1], "sizes %v", sizes)
	}
}

func TestPassAllocatesNothing(t *testing.T) {
	n := random(t, 1, 100, 32, 1)
	x, out, acc := inputs(1, 100*34), make([]float32, 34), make([]float32, n.AccLen())
	require.Zero(t, testing.AllocsPerRun(10, func() {
		n.Base(x[:50], 50, acc)
		n.ForwardFrom(acc, x, 50, 34, out)
		n.Forward(x, 34, out)
	}))
}

func TestCloneIsIndependent(t *testing.T) {
	n := random(t, 1, 20, 16, 1)
	c := n.Clone()
	x := inputs(3, 20*64)
	want := make([]float32, 64)
	n.Forward(x, 64, want)
	done := make(chan []float32)
	for _, m := range []*Net{n, c} {
		go func() {
			out := make([]float32, 64)
			for range 50 {
				m.Forward(x, 64, out)
			}
			done <- out
		}()
	}
	require.Equal(t, want, <-done)
	require.Equal(t, want, <-done)
}

func TestNewRefuses(t *testing.T) {
	layer := func(in, out int) Layer {
		return Layer{In: in, Out: out, W: make([]float32, in*out), B: make([]float32, out)}
	}
	short, nan := layer(3, 2), layer(3, 2)
	short.W = short.W[:5]
	nan.W[4] = float32(math.NaN())
	for name, c := range map[string]struct {
		layers []Layer
		says   string
	}{
		"none":     {nil, "0 layers"},
		"too many": {make([]Layer, 17), "17 layers"},
		"misfit":   {[]Layer{layer(3, 2), layer(3, 1)}, "layer 1 takes 3 inputs, layer 0 gives 2"},
		"short":    {[]Layer{short}, "5 weights"},
		"nan":      {[]Layer{nan}, "finite"},
		"empty":    {[]Layer{layer(0, 1)}, "0 to 1"},
		"huge":     {[]Layer{{In: 1 << 20, Out: 1}}, "want 1 to 4096"},
	} {
		_, err := New(c.layers)
		require.ErrorContains(t, err, c.says, name)
	}
}

func BenchmarkForward(b *testing.B) {
	for _, hidden := range []int{32, 64} {
		n := random(b, 1, 100, hidden, 1)
		x, out, acc := inputs(1, 100*34), make([]float32, 34), make([]float32, n.AccLen())
		for _, on := range []bool{true, false} {
			if on && !hasVector {
				continue
			}
			for _, rows := range []int{1, 34} {
				b.Run(fmt.Sprintf("split50of100-%d-1/vector=%v/rows=%d", hidden, on, rows), func(b *testing.B) {
					setVector(on)
					defer setVector(hasVector)
					b.ReportAllocs()
					for b.Loop() {
						n.Base(x[:50], 50, acc)
						n.ForwardFrom(acc, x, 50, rows, out)
					}
					b.ReportMetric(float64(b.N)*float64(rows)/b.Elapsed().Seconds(), "rows/s")
				})
			}
		}
	}
}

// The vector kernels give the bits of the plain loop for every mixture of inputs: zeros of both signs, which they skip,
// and others, in rows of every length.
func TestKernelsAgreeOnSparseInputs(t *testing.T) {
	if !hasVector {
		t.Skip("no vector kernels on this machine")
	}
	r := rand.New(rand.NewPCG(1, 2))
	trials := 20000
	if testing.Short() {
		trials = 2000
	}
	negative := float32(math.Copysign(0, -1))
	for trial := range trials {
		rows, in, wide := 1+r.IntN(5), 1+r.IntN(140), 8*(1+r.IntN(17))
		x, w := make([]float32, rows*in), make([]float32, in*wide)
		density := r.Float64()
		for i := range x {
			switch {
			case r.Float64() < density:
				x[i] = float32(r.NormFloat64())
			case r.IntN(4) == 0:
				x[i] = negative
			}
		}
		for i := range w {
			w[i] = r.Float32() - 0.5
		}
		plain, vector := make([]float32, rows*wide), make([]float32, rows*wide)
		for i := range plain {
			plain[i] = r.Float32()
			vector[i] = plain[i]
		}
		addRows(plain, x, w, rows, in, in, wide)
		vectorAdd(vector, x, w, rows, in, in, wide)
		require.True(t, slices.Equal(plain, vector), "trial %d: %d rows of %d inputs, %d columns", trial, rows, in, wide)
	}
}

// A network of 64 hidden units and one output has a kernel for both layers. It gives the bits of the plain loops.
func TestPairKernelAgrees(t *testing.T) {
	if !hasVector {
		t.Skip("no vector kernels on this machine")
	}
	t.Cleanup(func() { setVector(hasVector) })
	r := rand.New(rand.NewPCG(3, 4))
	const rows = 100
	for trial := range 1000 {
		n := random(t, uint64(trial), 1+r.IntN(200), 57+r.IntN(8), 1)
		require.True(t, n.pair())
		own := 1 + r.IntN(n.In())
		x, acc := inputs(uint64(trial), rows*own), make([]float32, n.AccLen())
		n.Base(inputs(uint64(trial), n.In()-own), own, acc)
		want, got := make([]float32, rows), make([]float32, rows)
		setVector(false)
		n.ForwardFrom(acc, x, own, rows, want)
		setVector(true)
		n.ForwardFrom(acc, x, own, rows, got)
		require.True(t, slices.Equal(want, got), "trial %d: %d of %d inputs", trial, own, n.In())
	}
}
