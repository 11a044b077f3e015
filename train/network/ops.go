package network

import (
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"slices"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An op is an operation of the graph, of matrices to a matrix. gorgonia's own make a new tensor for each intermediate
// result and need several operations for an activation; these keep their result from one run to the next.
type op struct {
	name  string // of one operation of one graph
	in    [][]float32
	shape tensor.Shape
	out   *tensor.Dense
	data  []float32 // of out

	do   func(out []float32, in [][]float32)
	wrt  []bool // inputs that have gradients
	diff func(in G.Nodes, y, dy *G.Node) (grads G.Nodes, err error)
}

func newOp(name string, inputs, rows, cols int, do func(out []float32, in [][]float32)) *op {
	o := &op{name: name, in: make([][]float32, inputs), shape: tensor.Shape{rows, cols}, do: do}
	o.data = make([]float32, rows*cols)
	o.out = tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(o.data))
	return o
}

// Type implements gorgonia.Op: matrices to a matrix.
func (o *op) Type() hm.Type {
	types := make([]hm.Type, len(o.in)+1)
	for i := range types {
		types[i] = G.TensorType{Dims: 2, Of: tensor.Float32}
	}
	return hm.NewFnType(types...)
}

func (o *op) Arity() int                                     { return len(o.in) }
func (o *op) InferShape(...G.DimSizer) (tensor.Shape, error) { return o.shape, nil }
func (o *op) ReturnsPtr() bool                               { return true }
func (o *op) CallsExtern() bool                              { return false }
func (o *op) OverwritesInput() int                           { return -1 }
func (o *op) String() string                                 { return o.name }
func (o *op) WriteHash(h hash.Hash)                          { fmt.Fprint(h, o.name) }

// Hashcode implements gorgonia.Op. Nodes of equal operations and inputs are one, so names are unique.
func (o *op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

func (o *op) Do(in ...G.Value) (G.Value, error) {
	for i, v := range in {
		o.in[i] = v.Data().([]float32)
	}
	o.do(o.data, o.in)
	return o.out, nil
}

func (o *op) DiffWRT(int) []bool                                 { return o.wrt }
func (o *op) SymDiff(in G.Nodes, y, dy *G.Node) (G.Nodes, error) { return o.diff(in, y, dy) }

// layer is y = f(x·W + b), of x [rows][width], W [width][size] and b [1][size]. f is LeakyReLU with a slope below 0,
// which is 1 in the last layer; first says that x is the input of the net, whose gradient nobody needs.
func layer(name string, rows, width, size int, slope float32, first bool) *op {
	var m multiplier
	y := newOp(name, 3, rows, size, func(y []float32, v [][]float32) {
		m.multiply(y, dense(v[0], rows, width), dense(v[1], width, size))
		activate(y, v[2], slope)
	})
	y.wrt = []bool{!first, true, true}
	y.diff = func(in G.Nodes, y, dy *G.Node) (G.Nodes, error) {
		dz, grads := dy, make(G.Nodes, 3)
		if slope != 1 {
			before := newOp(name+" dz", 2, rows, size, func(dz []float32, v [][]float32) { backward(dz, v[0], v[1], slope) })
			dz = G.Must(G.ApplyOp(before, y, dy))
		}
		if !first {
			dx := newOp(name+" dx", 2, rows, width, func(dx []float32, v [][]float32) {
				m.multiply(dx, dense(v[0], rows, size), dense(v[1], width, size).t())
			})
			grads[0] = G.Must(G.ApplyOp(dx, dz, in[1]))
		}
		dw := newOp(name+" dW", 2, width, size, func(dw []float32, v [][]float32) {
			m.multiply(dw, dense(v[0], rows, width).t(), dense(v[1], rows, size))
		})
		db := newOp(name+" db", 1, 1, size, func(db []float32, v [][]float32) { sumRows(db, v[0]) })
		grads[1], grads[2] = G.Must(G.ApplyOp(dw, in[0], dz)), G.Must(G.ApplyOp(db, dz))
		return grads, nil
	}
	return y
}

// preference is the logarithms of the softmax of x over a temperature, in a column of groups of so many rows.
func preference(rows, group int, temperature float32) *op {
	y := newOp("preference", 1, rows, 1, func(y []float32, v [][]float32) {
		for at := 0; at < rows; at += group {
			x := v[0][at : at+group]
			top, sum := slices.Max(x), 0.
			for _, v := range x {
				sum += math.Exp(float64((v - top) / temperature))
			}
			log := float32(math.Log(sum))
			for i, v := range x {
				y[at+i] = (v-top)/temperature - log
			}
		}
	})
	dx := newOp("preference dx", 2, rows, 1, func(dx []float32, v [][]float32) {
		for at := 0; at < rows; at += group {
			y, dy, sum := v[0][at:at+group], v[1][at:at+group], float32(0)
			for _, d := range dy {
				sum += d
			}
			for i, d := range dy {
				p := float32(math.Exp(float64(y[i])))
				dx[at+i] = (d - float32(p*sum)) / temperature
			}
		}
	})
	y.wrt = []bool{true}
	y.diff = func(_ G.Nodes, y, dy *G.Node) (G.Nodes, error) { return G.Nodes{G.Must(G.ApplyOp(dx, y, dy))}, nil }
	return y
}

const slope = 0.01 // that of LeakyReLU below 0, as in mlp

// activate adds a bias to each row of y, [rows][len(bias)], and multiplies by slope what is then negative: 1 for none.
func activate(y, bias []float32, slope float32) {
	for ; len(y) > 0; y = y[len(bias):] {
		done := eights(len(bias))
		if done > 0 {
			activate8(&y[0], &bias[0], slope, done)
		}
		for i := done; i < len(bias); i++ {
			y[i] = leak(y[i]+bias[i], y[i]+bias[i], slope)
		}
	}
}

// backward computes dz from dy, the gradients before and after activate with this slope, and y, its result.
func backward(dz, y, dy []float32, slope float32) {
	done := eights(len(dz))
	if done > 0 {
		backward8(&dz[0], &y[0], &dy[0], slope, done)
	}
	for i := done; i < len(dz); i++ {
		dz[i] = leak(dy[i], y[i], slope)
	}
}

// leak returns x, times slope if sign is negative, also a negative zero.
func leak(x, sign, slope float32) float32 {
	if math.Signbit(float64(sign)) {
		return x * slope
	}
	return x
}

// sumRows adds up the rows of x, [rows][len(sum)], in their order.
func sumRows(sum, x []float32) {
	clear(sum)
	for ; len(x) > 0; x = x[len(sum):] {
		done := eights(len(sum))
		if done > 0 {
			add8(&sum[0], &x[0], done)
		}
		for i := done; i < len(sum); i++ {
			sum[i] += x[i]
		}
	}
}

// eights is how many of n floats the kernels do.
func eights(n int) int {
	if !hasFMA {
		return 0
	}
	return n &^ 7
}
