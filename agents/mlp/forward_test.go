package mlp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

// random makes a net of the given sizes with weights of the usual scale.
func random(seed uint64, sizes ...int) *Net {
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
	return envtest.Must(New(layers))
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

// A net gives the values of the formula, for whole rows and for rows that share their last inputs. Each row has the
// same bits in a batch as alone, and on both paths, so that a bot in plain Go decides what the program around it does.
func TestForward(t *testing.T) {
	t.Cleanup(func() { setVector(hasVector) })
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 2000 {
		n := random(uint64(trial), sizes(r, trial)...)
		rows, own := r.IntN(20), r.IntN(n.In()+1)
		rest, mine := sparse(r, n.In()-own), sparse(r, rows*own)
		var whole, want []float32
		for k := range rows {
			row := slices.Concat(mine[k*own:(k+1)*own], rest)
			whole = append(whole, row...)
			for _, v := range slow(n.layers, row) {
				want = append(want, float32(v))
			}
		}
		var split, full [2][]float32
		for path := range split {
			setVector(path == 1 && hasVector)
			acc, out := make([]float32, n.AccLen()), make([]float32, 2*len(want))
			split[path], full[path] = out[:len(want)], out[len(want):]
			n.Base(rest, own, acc)
			n.ForwardFrom(acc, mine, own, rows, split[path])
			n.Forward(whole, rows, full[path])
			require.True(t, near(want, split[path]), "trial %d: %d rows, %d own inputs", trial, rows, own)
			require.True(t, near(want, full[path]), "trial %d: %d rows", trial, rows)
			for k := range rows {
				one := make([]float32, n.Out())
				n.ForwardFrom(acc, mine[k*own:], own, 1, one)
				require.Equal(t, split[path][k*n.Out():(k+1)*n.Out()], one, "trial %d", trial)
			}
		}
		require.Equal(t, split[0], split[1], "trial %d", trial)
		require.Equal(t, full[0], full[1], "trial %d", trial)
	}
}

// sizes are those of a net with no hidden layer, one, one that has a kernel together with the output, or two.
func sizes(r *rand.Rand, trial int) []int {
	in, hidden := 1+r.IntN(140), 1+r.IntN(136)
	kinds := [][]int{{in, 1}, {in, hidden}, {in, hidden, 1}, {in, 57 + r.IntN(8), 1}, {in, hidden, 1 + r.IntN(40), 1},
		{in, hidden, 7}}
	return kinds[trial%len(kinds)]
}

// sparse are numbers and, with a chance of their own, zeros of both signs, which kernels skip.
func sparse(r *rand.Rand, n int) []float32 {
	x, density := make([]float32, n), r.Float64()
	for i := range x {
		switch {
		case r.Float64() < density:
			x[i] = float32(r.NormFloat64())
		case r.IntN(4) == 0:
			x[i] = float32(math.Copysign(0, -1))
		}
	}
	return x
}

func near(want, got []float32) bool {
	return slices.EqualFunc(want, got, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-4 })
}

func TestNothingIsAllocated(t *testing.T) {
	n := random(1, 100, 64, 1)
	x, out, acc := make([]float32, 100*34), make([]float32, 34), make([]float32, n.AccLen())
	f, shared := n.Fixed(make([]float32, 90)), make([]float32, 10)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		n.Base(x[:50], 50, acc)
		n.ForwardFrom(acc, x, 50, 34, out)
		n.Forward(x, 34, out)
		f.Share(shared)
		f.Value()
	}))
}

func TestCloneIsIndependent(t *testing.T) {
	n := random(1, 20, 16, 1)
	c := n.Clone()
	x := sparse(rand.New(rand.NewPCG(3, 2)), 20*64)
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
		require.ErrorContains(t, envtest.Failed(New(c.layers)), c.says, name)
	}
}

func BenchmarkForward(b *testing.B) {
	const rows = 34
	n := random(1, 100, 64, 1)
	x, out, acc := sparse(rand.New(rand.NewPCG(1, 2)), 100*rows), make([]float32, rows), make([]float32, n.AccLen())
	onBothPaths(b, func(b *testing.B) {
		for b.Loop() {
			n.Base(x[:50], 50, acc)
			n.ForwardFrom(acc, x, 50, rows, out)
		}
		b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
	})
}

// onBothPaths measures f in plain Go and, where there is one, on the vector path.
func onBothPaths(b *testing.B, f func(b *testing.B)) {
	defer setVector(hasVector)
	for _, on := range slices.Compact([]bool{false, hasVector}) {
		b.Run(fmt.Sprintf("vector=%v", on), func(b *testing.B) {
			setVector(on)
			b.ReportAllocs()
			f(b)
		})
	}
}

// counts are whole numbers with zeros among them, some of them large.
func counts(r *rand.Rand, x []int32, most int) {
	for i := range x {
		x[i] = 0
		switch r.IntN(12) {
		case 0, 1, 2, 3:
		case 4:
			x[i] = int32(r.IntN(2*most+1) - most)
		default:
			x[i] = int32(r.IntN(20) - 4)
		}
	}
}

// A Fixed gives the values of the formula, for weights of every size, and the same bits on both paths and after every
// row: of 12,000 rows, and of 100,000 if BLOCKYARD_LONG is set.
func TestFixedAgrees(t *testing.T) {
	t.Cleanup(func() { setVector(hasVector) })
	r := rand.New(rand.NewPCG(5, 6))
	hidden := [][]int{{64}, {64}, {64}, {32}, {100}, {64, 32}, {9, 7, 5}, {}, {200}}
	trials := 300
	if os.Getenv("BLOCKYARD_LONG") != "" {
		trials = 2500
	}
	for trial := range trials {
		sizes := append([]int{2 + r.IntN(200)}, hidden[trial%len(hidden)]...)
		n := random(uint64(trial), append(sizes, 1)...)
		scale := []float32{1, 1e-12, 1, 1e9}[trial%4]
		for _, x := range [][]float32{n.layers[0].W, n.layers[0].B} {
			for i := range x {
				x[i] *= scale
			}
		}
		n = envtest.Must(New(n.layers))
		own := 1 + r.IntN(n.In())
		most := []int{20, 300, 3000}[trial%3]
		units := make([]float32, own)
		for i := range units {
			units[i] = mostInput / float32(most*(1+r.IntN(8)))
		}
		f, clone := n.Fixed(units), n.Clone().Fixed(units)
		require.Same(t, f.w, clone.w)
		x := make([]float32, n.In())
		for row := range 40 {
			if row%10 == 0 {
				shared := sparse(r, n.In()-own)
				copy(x[own:], shared)
				f.Share(shared)
				clone.Share(shared)
			}
			counts(r, f.Counts(), most)
			for i, c := range f.Counts() {
				x[i] = float32(c) * units[i]
			}
			copy(clone.Counts(), f.Counts())
			if r.IntN(4) == 0 { // the row before is another one
				counts(r, f.Counts(), most)
				f.Value()
				copy(f.Counts(), clone.Counts())
			}
			setVector(row%2 == 0 && hasVector)
			got := f.Value()
			setVector(row%2 != 0 && hasVector)
			require.Equal(t, got, clone.Value(), "trial %d: sizes %v, %d counts", trial, sizes, own)
			want := slow(n.layers, x)[0]
			require.InDelta(t, want, got, 3e-3*float64(max(scale, 1)), "trial %d: sizes %v", trial, sizes)
		}
	}
}

func TestSplitWeights(t *testing.T) {
	const most = 1<<22 - 1<<12
	for v := int32(-most); v <= most; v += 37 {
		s := splitWeight(v)
		require.Equal(t, v, int32(int16(s))+s>>16<<splitBits)
	}
}

// BenchmarkValue times rows of which a tenth of the counts differs from the row before.
func BenchmarkValue(b *testing.B) {
	for _, sizes := range [][]int{{100, 64, 1}, {100, 64, 32, 1}} {
		f := random(1, sizes...).Fixed(make([]float32, 90))
		f.Share(make([]float32, 10))
		b.Run(fmt.Sprint(sizes), func(b *testing.B) {
			onBothPaths(b, func(b *testing.B) {
				for i := range b.N {
					for k := range 9 {
						f.Counts()[(i+k*10)%90] = int32(i % 7)
					}
					f.Value()
				}
			})
		})
	}
}

// Eight sums have the same bits on both paths, and those of one sum added in order.
func TestSumEightAgrees(t *testing.T) {
	t.Cleanup(func() { setVector(hasVector) })
	r := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		w, terms := make([]float32, 1+r.IntN(40)), make([][8]int32, 40)
		var want, got, plain [8]float32
		for i := range w {
			w[i] = float32(r.NormFloat64())
			for k := range want {
				terms[i][k] = int32(r.IntN(2000) - 1000)
				want[k] += float32(w[i] * float32(terms[i][k]))
			}
		}
		setVector(hasVector)
		SumEight(terms, w, &got)
		setVector(false)
		SumEight(terms, w, &plain)
		require.Equal(t, want, got)
		require.Equal(t, want, plain)
	}
}

// Scale gives the products of float32, in plain Go and in vector instructions, and no more than its memory.
func TestScale(t *testing.T) {
	t.Cleanup(func() { setVector(hasVector) })
	rng := rand.New(rand.NewPCG(5, 8))
	for trial := range 200 {
		setVector(trial%2 == 0 && hasVector)
		in, rows := 1+rng.IntN(80), rng.IntN(34)
		padded := (in + 7) &^ 7
		units, counts := make([]float32, padded), make([]int16, rows*padded)
		for i := range units {
			units[i] = rng.Float32()
		}
		for i := range counts {
			counts[i] = int16(rng.IntN(1 << 16))
		}
		var want []float32
		for i, c := range counts {
			if i%padded < in {
				want = append(want, float32(c)*units[i%padded])
			}
		}
		need := rows*in + padded - in
		out := slices.Repeat([]float32{-7}, need+8)
		Scale(counts, units, in, out[:need])
		require.True(t, slices.Equal(want, out[:rows*in]), "trial %d: %d rows of %d", trial, rows, in)
		require.Equal(t, slices.Repeat([]float32{-7}, 8), out[need:])
	}
}
