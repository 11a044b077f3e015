package mlp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// A Fixed gives the values of the formula, and the same bits on both paths and after every row: of 12,000 rows, and of
// 100,000 if BLOCKYARD_LONG is set.
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
		n := random(t, uint64(trial), append(sizes, 1)...)
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
				shared := inputs(uint64(trial+row), n.In()-own)
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
			require.InDelta(t, want, got, 3e-3, "trial %d: sizes %v", trial, sizes)
		}
	}
}

// Weights of every size keep their precision.
func TestFixedScales(t *testing.T) {
	for _, scale := range []float32{1e-12, 1, 1e9} {
		n := random(t, 1, 30, 64, 1)
		l := n.layers[0]
		for i := range l.W {
			l.W[i] *= scale
		}
		for i := range l.B {
			l.B[i] *= scale
		}
		n, err := New(n.layers)
		require.NoError(t, err)
		units := make([]float32, 20)
		x := make([]float32, 30)
		for i := range units {
			units[i] = 0.1
		}
		f := n.Fixed(units)
		f.Share(x[20:])
		for i := range f.Counts() {
			f.Counts()[i] = int32(i)
			x[i] = float32(i) * 0.1
		}
		require.InEpsilon(t, slow(n.layers, x)[0], f.Value(), 1e-4)
	}
}

func TestSplitWeights(t *testing.T) {
	const most = 1<<22 - 1<<12
	for v := int32(-most); v <= most; v += 37 {
		s := splitWeight(v)
		require.Equal(t, v, int32(int16(s))+s>>16<<splitBits)
	}
}

func TestFixedAllocatesNothing(t *testing.T) {
	n := random(t, 1, 100, 64, 1)
	units, shared := make([]float32, 90), make([]float32, 10)
	f := n.Fixed(units)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		f.Share(shared)
		f.Value()
	}))
}

// The kernel for the leaky ReLU of whole numbers gives the bits of the plain loops.
func TestLeakKernelAgrees(t *testing.T) {
	if vectorLeak == nil {
		t.Skip("no vector kernels on this machine")
	}
	r := rand.New(rand.NewPCG(9, 10))
	for range 20_000 {
		h := make([]int32, 8*(1+r.IntN(9)))
		for i := range h {
			h[i] = int32(r.Uint32()) >> r.IntN(32)
		}
		part := float32(math.Ldexp(1, -r.IntN(31)))
		plain, vector := make([]float32, len(h)), make([]float32, len(h))
		for i, v := range h {
			plain[i] = float32(v) * part
		}
		leak(plain, 0, len(plain), 1)
		vectorLeak(vector, h, part)
		require.Equal(t, plain, vector)
	}
}

// BenchmarkValue times rows of which a tenth of the counts differs from the row before.
func BenchmarkValue(b *testing.B) {
	for _, sizes := range [][]int{{100, 64, 1}, {100, 64, 32, 1}} {
		n := random(b, 1, sizes...)
		for _, on := range []bool{true, false} {
			if on && !hasVector {
				continue
			}
			b.Run(fmt.Sprintf("%v/vector=%v", sizes, on), func(b *testing.B) {
				setVector(on)
				defer setVector(hasVector)
				f := n.Fixed(make([]float32, 90))
				f.Share(make([]float32, 10))
				b.ReportAllocs()
				for i := range b.N {
					for k := range 9 {
						f.Counts()[(i+k*10)%90] = int32(i % 7)
					}
					f.Value()
				}
			})
		}
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
