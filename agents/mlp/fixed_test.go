package mlp

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
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
		n, err := New(n.layers)
		require.NoError(t, err)
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
