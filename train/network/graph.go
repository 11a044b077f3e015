package network

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Loss is the loss function, which determines what the net's output z means.
type Loss string

// With Logistic, z is the logit of the probability of winning, targets y lie in 0 to 1, and the loss
// is softplus(z) − y·z. With Square, z is the predicted number itself, and the loss is (z − y)². With Choice, the rows
// of a group are compared: p, the softmax of z over Config.Temperature, says which of them is chosen, targets y are
// probabilities that add up to 1 in a group, and the loss is −y·log p.
const (
	Logistic Loss = "logistic"
	Square   Loss = "square"
	Choice   Loss = "choice"
)

// graph is one batch as gorgonia computes it. The slices are the memory the graph reads.
type graph struct {
	x, y, share []float32 // [batch][in], [batch], [batch]: a row's part in the mean
	weights     G.Nodes   // [in][out], then [1][out], layer by layer
	vm          G.VM
	cost, out   G.Value // after a run
}

// column makes a [rows][cols] input of the graph over memory of ours.
func column(g *G.ExprGraph, name string, rows, cols int, memory []float32) *G.Node {
	return G.NewMatrix(g, tensor.Float32, G.WithName(name), G.WithShape(rows, cols),
		G.WithValue(tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(memory))))
}

// build makes the graph of a net over weights, [in][out] and [1][out] by layers. gorgonia panics at mistakes.
func build(c Config, weights [][]float32) (r *graph, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("trainer: graph of %v: %v", c.Sizes, p)
		}
	}()
	g := G.NewGraph()
	sizes, batch := c.Sizes, c.Batch
	in := sizes[0]
	r = &graph{x: make([]float32, batch*in), y: make([]float32, batch), share: make([]float32, batch)}
	h := column(g, "x", batch, in, r.x)
	for i := 0; i+1 < len(sizes); i++ {
		w := column(g, fmt.Sprintf("w%d", i), sizes[i], sizes[i+1], weights[2*i])
		b := column(g, fmt.Sprintf("b%d", i), 1, sizes[i+1], weights[2*i+1])
		r.weights = append(r.weights, w, b)
		below := float32(slope)
		if i+2 == len(sizes) {
			below = 1
		}
		h = G.Must(G.ApplyOp(layer(fmt.Sprintf("layer %d", i), batch, sizes[i], sizes[i+1], below, i == 0), h, w, b))
	}
	y, share := column(g, "y", batch, 1, r.y), column(g, "share", batch, 1, r.share)
	var l *G.Node
	switch c.Loss {
	case Logistic:
		l = G.Must(G.Sub(G.Must(G.Softplus(h)), G.Must(G.HadamardProd(y, h))))
	case Square:
		l = G.Must(G.Square(G.Must(G.Sub(h, y))))
	case Choice:
		log := G.Must(G.ApplyOp(preference(batch, c.Group, float32(c.Temperature)), h))
		l = G.Must(G.Neg(G.Must(G.HadamardProd(y, log))))
	default:
		return nil, fmt.Errorf("trainer: no loss named %q", c.Loss)
	}
	cost := G.Must(G.Sum(G.Must(G.HadamardProd(share, l))))
	G.Read(cost, &r.cost)
	G.Read(h, &r.out)
	if _, err = G.Grad(cost, r.weights...); err != nil {
		return nil, fmt.Errorf("trainer: gradients of %v: %w", sizes, err)
	}
	r.vm = G.NewTapeMachine(g, G.BindDualValues(r.weights...))
	return r, nil
}

// The constants of Adam (Kingma and Ba 2015). Its state can be read and put back, which that of gorgonia's own cannot.
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// update moves weights w by Adam's rule from their gradients g, which it clears.
func update(w, g, m, v []float32, rate, c2 float32) {
	g, m, v = g[:len(w)], m[:len(w)], v[:len(w)]
	done := eights(len(w))
	if done > 0 {
		adam8(&w[0], &g[0], &m[0], &v[0], rate, c2, done)
	}
	for i := done; i < len(w); i++ {
		m[i] += (1 - beta1) * (g[i] - m[i])
		v[i] += (1 - beta2) * (g[i]*g[i] - v[i])
		w[i] -= rate * m[i] / (float32(math.Sqrt(float64(v[i]*c2))) + epsilon)
		g[i] = 0
	}
}
