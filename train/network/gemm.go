package network

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// A matrix is a view of numbers: element i, j is data[i*rs+j*cs]. Either stride is 1.
type matrix struct {
	data       []float32
	rows, cols int
	rs, cs     int
}

func dense(data []float32, rows, cols int) matrix { return matrix{data, rows, cols, cols, 1} }
func (a matrix) t() matrix                        { return matrix{a.data, a.cols, a.rows, a.cs, a.rs} } // transpose

const (
	tileRows = 6
	wideRows = 12  // of a tile, with AVX-512
	columns  = 16  // of a tile, and the width of a packed panel
	depth    = 256 // rows of a packed panel, 16 KiB
	block    = 120 // rows of A that all panels meet before the next ones: they stay in the cache
)

// A multiplier multiplies matrices. Each element of a product is one chain of fused multiply-adds in the order of the
// inner dimension, whatever the sizes: blocks and tiles change no bit. Without AVX2 and FMA it is gonum's Sgemm.
type multiplier struct {
	panels []float32 // packed rows of B
	tile   [wideRows * columns]float32
}

// multiply computes C = A·B; C is dense and overlaps neither.
func (m *multiplier) multiply(c []float32, a, b matrix) {
	n, inner := b.cols, a.cols
	if !hasFMA {
		tA, lda := layout(a)
		tB, ldb := layout(b)
		gonum.Implementation{}.Sgemm(tA, tB, a.rows, n, inner, 1, a.data, lda, b.data, ldb, 0, c, n)
		return
	}
	wide := (n + columns - 1) / columns * columns
	if size := min(depth, inner) * wide; len(m.panels) < size {
		m.panels = make([]float32, size)
	}
	for p := 0; p < inner; p += depth {
		k := min(depth, inner-p)
		for j := 0; j < n; j += columns {
			pack(m.panels[j*k:][:k*columns], b, p, j)
		}
		for i := 0; i < a.rows; i += block {
			for j := 0; j < n; j += columns {
				m.band(c, a, i, min(block, a.rows-i), p, k, j, n)
			}
		}
	}
}

// band adds to rows i to i+high of C, in the columns of panel j, what k elements from p on of the inner dimension give.
func (m *multiplier) band(c []float32, a matrix, i, high, p, k, j, n int) {
	panel, more := &m.panels[j*k], p > 0
	wide := min(columns, n-j)
	for end := i + high; i < end; {
		from := &a.data[i*a.rs+p*a.cs]
		rows := 1
		if hasWide && end-i >= wideRows {
			rows = wideRows
		} else if end-i >= tileRows {
			rows = tileRows
		}
		to, ld := &c[i*n+j], n
		if wide < columns { // the tile is wider than what is left of C
			to, ld = &m.tile[0], columns
			for r := range rows {
				copy(m.tile[r*columns:], c[(i+r)*n+j:][:wide])
			}
		}
		switch rows {
		case wideRows:
			tile12x16(to, from, panel, ld, a.rs, a.cs, k, more)
		case tileRows:
			tile6x16(to, from, panel, ld, a.rs, a.cs, k, more)
		default:
			tile1x16(to, from, panel, a.cs, k, more)
		}
		if wide < columns {
			for r := range rows {
				copy(c[(i+r)*n+j:][:wide], m.tile[r*columns:])
			}
		}
		i += rows
	}
}

// pack copies columns j to j+16 of B side by side, filled up with zeros: [k][16], from row p on.
func pack(panel []float32, b matrix, p, j int) {
	wide := min(columns, b.cols-j)
	if wide < columns {
		clear(panel)
	}
	if b.cs == 1 {
		for r := 0; r < len(panel); r, p = r+columns, p+1 {
			copy(panel[r:r+columns], b.data[p*b.rs+j:][:wide])
		}
		return
	}
	for col := range wide {
		for r, v := range b.data[p*b.rs+(j+col)*b.cs:][:len(panel)/columns] {
			panel[r*columns+col] = v
		}
	}
}

// layout says how BLAS calls a matrix: transposed or not, with its leading dimension.
func layout(a matrix) (blas.Transpose, int) {
	if a.cs == 1 && a.rs >= a.cols {
		return blas.NoTrans, a.rs
	}
	return blas.Trans, a.cs
}
