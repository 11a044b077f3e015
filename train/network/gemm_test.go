package network

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// normals draws numbers, some of them zero, of either sign.
func normals(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		if r.IntN(8) > 0 {
			x[i] = float32(r.NormFloat64())
		}
	}
	return x
}

// either is a random matrix, stored by rows or by columns.
func either(r *rand.Rand, rows, cols int) matrix {
	if r.IntN(2) == 0 {
		return dense(normals(r, rows*cols), rows, cols)
	}
	return dense(normals(r, rows*cols), cols, rows).t()
}

func (a matrix) at(i, j int) float32 { return a.data[i*a.rs+j*a.cs] }

// products calls check with random pairs of matrices that can be multiplied.
func products(seed uint64, n int, check func(r *rand.Rand, a, b matrix)) {
	r := rand.New(rand.NewPCG(seed, seed))
	for range n {
		rows, cols, inner := 1+r.IntN(140), 1+r.IntN(40), 1+r.IntN(600)
		check(r, either(r, rows, inner), either(r, inner, cols))
	}
}

func TestMultiplyAgreesWithFormula(t *testing.T) {
	var m multiplier
	products(6, 40, func(r *rand.Rand, a, b matrix) {
		got := normals(r, a.rows*b.cols) // what was there does not matter
		m.multiply(got, a, b)
		for i := range a.rows {
			for j := range b.cols {
				sum := 0.0
				for p := range a.cols {
					sum += float64(a.at(i, p)) * float64(b.at(p, j))
				}
				if math.Abs(sum-float64(got[i*b.cols+j])) > 1e-3 {
					t.Fatalf("%d×%d×%d, element %d, %d: want %g", a.rows, a.cols, b.cols, i, j, sum)
				}
			}
		}
	})
}

// Tiles with AVX-512 compute what those without it do, bit for bit.
func TestWideTilesComputeTheSame(t *testing.T) {
	if !hasWide {
		t.Log("this machine has no AVX-512")
		return
	}
	defer func() { hasWide = true }()
	var m multiplier
	products(5, 100, func(r *rand.Rand, a, b matrix) {
		var products [2][]float32
		for i := range products {
			hasWide = i == 0
			products[i] = normals(r, a.rows*b.cols)
			m.multiply(products[i], a, b)
		}
		require.Equal(t, products[1], products[0], "%d×%d×%d", a.rows, a.cols, b.cols)
	})
}

// An element does not depend on how many rows and columns are computed with it.
func TestMultiplyDoesNotDependOnSizes(t *testing.T) {
	if !hasFMA {
		t.Log("gonum's Sgemm promises no such thing")
		return
	}
	var m multiplier
	products(7, 30, func(r *rand.Rand, a, b matrix) {
		all, one := make([]float32, a.rows*b.cols), make([]float32, 1)
		m.multiply(all, a, b)
		for range 20 {
			i, j := r.IntN(a.rows), r.IntN(b.cols)
			row, col := matrix{a.data[i*a.rs:], 1, a.cols, a.rs, a.cs}, matrix{b.data[j*b.cs:], a.cols, 1, b.rs, b.cs}
			m.multiply(one, row, col)
			require.Equal(t, all[i*b.cols+j], one[0], "%d×%d×%d, element %d, %d", a.rows, a.cols, b.cols, i, j)
		}
	})
}

// The kernels compute what the lines of Go behind them compute, bit for bit: here each number is a row of its own, which
// is too short for a kernel.
func TestRowsAgreeWithSingleNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		n, rows := 1+r.IntN(70), 1+r.IntN(5)
		x, dy, bias := normals(r, n*rows), normals(r, n*rows), normals(r, n)
		y, dz, sum := append([]float32(nil), x...), make([]float32, n*rows), normals(r, n)
		activate(y, bias, slope)
		backward(dz, y, dy, slope)
		sumRows(sum, dz)
		total := make([]float32, n)
		for i := range x {
			one := x[i : i+1]
			activate(one, bias[i%n:i%n+1], slope)
			require.Equal(t, one[0], y[i])
			backward(one, y[i:i+1], dy[i:i+1], slope)
			require.Equal(t, one[0], dz[i])
			total[i%n] += one[0]
		}
		require.Equal(t, total, sum)
	}
}

func TestUpdateAgreesWithSingleNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 200 {
		n := 1 + r.IntN(70)
		w, g, m, v := normals(r, n), normals(r, n), normals(r, n), make([]float32, n)
		w1, g1 := append([]float32(nil), w...), append([]float32(nil), g...)
		m1, v1 := append([]float32(nil), m...), append([]float32(nil), v...)
		update(w, g, m, v, .003, 1.25)
		for i := range w1 {
			update(w1[i:i+1], g1[i:i+1], m1[i:i+1], v1[i:i+1], .003, 1.25)
		}
		require.Equal(t, [][]float32{w1, g1, m1, v1}, [][]float32{w, g, m, v})
	}
}
