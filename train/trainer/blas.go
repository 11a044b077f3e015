package trainer

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gorgonia.org/gorgonia"
)

// A BLAS is gonum's implementation, except for a faster Sgemm on machines with AVX2 and FMA.
type BLAS struct{ gonum.Implementation }

// useOnce makes gorgonia multiply with BLAS.
var useOnce = sync.OnceFunc(func() { gorgonia.Use(BLAS{}) })

// columns is the width of a packed panel of the right-hand matrix.
const columns = 16

// panels keeps packed right-hand matrices between calls.
var panels = sync.Pool{New: func() any { return new([]float32) }}

// Sgemm computes C = alpha·op(A)·op(B) + beta·C for row-major matrices. op is the transpose if tA or tB
// asks for it, or else the matrix itself: op(A) is m×k, op(B) k×n, C m×n.
func (b BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, bb []float32, ldb int,
	beta float32, c []float32, ldc int) {
	empty := m == 0 || n == 0 || k == 0
	if !hasFMA || empty || !fits(tA, m, k, a, lda) || !fits(tB, k, n, bb, ldb) || ldc < n || len(c) < (m-1)*ldc+n {
		b.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc)
		return
	}
	buf := panels.Get().(*[]float32)
	defer panels.Put(buf)
	rs, cs := lda, 1 // op(A)[i][p] is a[i*rs+p*cs]
	if tA != blas.NoTrans {
		rs, cs = 1, lda
	}
	var tile [4 * columns]float32
	for j := 0; j < n; j += columns {
		wide := min(columns, n-j)
		panel := packPanel(buf, tB != blas.NoTrans, bb, ldb, j, wide, k)
		for i := 0; i < m; i += 4 {
			high := min(4, m-i)
			if high == 4 {
				tile4x16(&tile[0], &a[i*rs], &panel[0], rs, cs, k)
			} else {
				for r := range high {
					tile1x16(&tile[r*columns], &a[(i+r)*rs], &panel[0], cs, k)
				}
			}
			for r := range high {
				store(c[(i+r)*ldc+j:][:wide], tile[r*columns:], alpha, beta)
			}
		}
	}
}

// store merges a row of a product into a row of C.
func store(row, product []float32, alpha, beta float32) {
	product = product[:len(row)]
	switch {
	case beta == 0 && alpha == 1:
		copy(row, product)
	case beta == 0:
		for i, v := range product {
			row[i] = alpha * v
		}
	default:
		for i, v := range product {
			row[i] = beta*row[i] + alpha*v
		}
	}
}

// fits reports whether a holds op(A), rows×cols, within its bounds; gonum's own Sgemm
// says what is wrong otherwise.
func fits(t blas.Transpose, rows, cols int, a []float32, lda int) bool {
	if t != blas.NoTrans {
		rows, cols = cols, rows
	}
	return rows > 0 && lda >= max(1, cols) && len(a) >= (rows-1)*lda+cols
}

// packPanel copies columns j to j+wide of op(B) side by side, filled up with zeros to
// columns: [k][columns].
func packPanel(buf *[]float32, transposed bool, b []float32, ldb, j, wide, k int) []float32 {
	if cap(*buf) < k*columns {
		*buf = make([]float32, k*columns)
	}
	panel := (*buf)[:k*columns]
	if wide < columns {
		clear(panel)
	}
	if transposed {
		for c := range wide {
			for p, v := range b[(j+c)*ldb:][:k] {
				panel[p*columns+c] = v
			}
		}
		return panel
	}
	for p := range k {
		copy(panel[p*columns:], b[p*ldb+j:][:wide])
	}
	return panel
}
