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

// An op is what the operations of a layer have in common. gorgonia's own make a new tensor for each intermediate result
// and need several operations for an activation; these keep their result from one run to the next.
type op struct {
	name   string // of one operation of one graph
	inputs int
	shape  tensor.Shape
	out    *tensor.Dense
	data   []float32 // of out
}

func newOp(name string, inputs, rows, cols int) op {
	o := op{name: name, inputs: inputs, shape: tensor.Shape{rows, cols}, data: make([]float32, rows*cols)}
	o.out = tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(o.data))
	return o
}

func (o *op) Arity() int { return o.inputs }

// Type implements gorgonia.Op: matrices to a matrix.
func (o *op) Type() hm.Type {
	types := make([]hm.Type, o.inputs+1)
	for i := range types {
		types[i] = G.TensorType{Dims: 2, Of: tensor.Float32}
	}
	return hm.NewFnType(types...)
}

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

func floats(v G.Value) []float32 { return v.Data().([]float32) }

// A layer computes y = f(x·W + b), where f is LeakyReLU, or nothing in the last layer.
type layer struct {
	op
	rows, in, size int
	slope          float32 // of f below 0; 1 in the last layer
	first          bool    // x is the input of the net, whose gradient nobody needs
	multiplier     multiplier
}

func newLayer(name string, rows, in, size int, slope float32, first bool) *layer {
	return &layer{op: newOp(name, 3, rows, size), rows: rows, in: in, size: size, slope: slope, first: first}
}

// Do implements gorgonia.Op, of x [rows][in], W [in][size] and b [1][size].
func (l *layer) Do(in ...G.Value) (G.Value, error) {
	l.multiplier.multiply(l.data, dense(floats(in[0]), l.rows, l.in), dense(floats(in[1]), l.in, l.size))
	activate(l.data, floats(in[2]), l.slope)
	return l.out, nil
}

// DiffWRT implements gorgonia.SDOp.
func (l *layer) DiffWRT(int) []bool { return []bool{!l.first, true, true} }

// SymDiff implements gorgonia.SDOp: the gradients of x, W and b from that of y.
func (l *layer) SymDiff(in G.Nodes, y, dy *G.Node) (grads G.Nodes, err error) {
	named := func(what string, inputs, rows, cols int) op { return newOp(l.name+" "+what, inputs, rows, cols) }
	dz := dy
	if l.slope != 1 {
		if dz, err = G.ApplyOp(&before{named("dz", 2, l.rows, l.size), l.slope}, y, dy); err != nil {
			return nil, err
		}
	}
	grads = make(G.Nodes, 3)
	if !l.first {
		dx := &product{op: named("dx", 2, l.rows, l.in), a: [2]int{l.rows, l.size}, b: [2]int{l.in, l.size}, turnB: true}
		if grads[0], err = G.ApplyOp(dx, dz, in[1]); err != nil {
			return nil, err
		}
	}
	dw := &product{op: named("dW", 2, l.in, l.size), a: [2]int{l.rows, l.in}, b: [2]int{l.rows, l.size}, turnA: true}
	if grads[1], err = G.ApplyOp(dw, in[0], dz); err != nil {
		return nil, err
	}
	grads[2], err = G.ApplyOp(&total{named("db", 1, 1, l.size)}, dz)
	return grads, err
}

// before computes the gradient before an activation, of its result and the gradient after it.
type before struct {
	op
	slope float32
}

func (b *before) Do(in ...G.Value) (G.Value, error) {
	backward(b.data, floats(in[0]), floats(in[1]), b.slope)
	return b.out, nil
}

// product multiplies two matrices, transposed where turnA and turnB ask for it.
type product struct {
	op
	a, b         [2]int // rows and columns as they lie in memory
	turnA, turnB bool
	multiplier   multiplier
}

func (p *product) Do(in ...G.Value) (G.Value, error) {
	a, b := dense(floats(in[0]), p.a[0], p.a[1]), dense(floats(in[1]), p.b[0], p.b[1])
	if p.turnA {
		a = a.t()
	}
	if p.turnB {
		b = b.t()
	}
	p.multiplier.multiply(p.data, a, b)
	return p.out, nil
}

// total adds up the rows of a matrix.
type total struct{ op }

func (s *total) Do(in ...G.Value) (G.Value, error) {
	sumRows(s.data, floats(in[0]))
	return s.out, nil
}

// A preference computes the logarithms of the softmax of x over a temperature, in a column of groups of so many rows.
type preference struct {
	op
	group       int
	temperature float32
}

func (p *preference) Do(in ...G.Value) (G.Value, error) {
	x := floats(in[0])
	for at := 0; at < len(x); at += p.group {
		top, sum := slices.Max(x[at:at+p.group]), 0.
		for _, v := range x[at : at+p.group] {
			sum += math.Exp(float64((v - top) / p.temperature))
		}
		log := float32(math.Log(sum))
		for i, v := range x[at : at+p.group] {
			p.data[at+i] = (v-top)/p.temperature - log
		}
	}
	return p.out, nil
}

// DiffWRT implements gorgonia.SDOp.
func (p *preference) DiffWRT(int) []bool { return []bool{true} }

// SymDiff implements gorgonia.SDOp.
func (p *preference) SymDiff(_ G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	dx, err := G.ApplyOp(&beforePreference{newOp(p.name+" dx", 2, len(p.data), 1), p.group, p.temperature}, y, dy)
	return G.Nodes{dx}, err
}

// beforePreference computes the gradient before a preference, of its result and the gradient after it.
type beforePreference struct {
	op
	group       int
	temperature float32
}

func (b *beforePreference) Do(in ...G.Value) (G.Value, error) {
	y, dy := floats(in[0]), floats(in[1])
	for at := 0; at < len(y); at += b.group {
		sum := float32(0)
		for _, d := range dy[at : at+b.group] {
			sum += d
		}
		for i, d := range dy[at : at+b.group] {
			p := float32(math.Exp(float64(y[at+i])))
			b.data[at+i] = (d - float32(p*sum)) / b.temperature
		}
	}
	return b.out, nil
}
