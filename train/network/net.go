// Package network is a network in training: it builds the graph of a network and its loss in gorgonia, takes
// optimiser steps on batches of rows, and returns the weights as an mlp.Net. No other package imports gorgonia. The
// graph is built once. Games are played by mlp.Net, which is a hundred times faster per call.
package network

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"blockyard/agents/mlp"
)

// A Config is the settings of a Trainer: the network, its loss and its batches.
type Config struct {
	Sizes []int    // inputs, hidden layers, 1
	From  *mlp.Net // to begin with, instead of random weights; if set, Sizes are its own
	Batch int      // rows of a full batch; learning is fastest at 256 and more
	Loss  Loss     // Logistic if empty
	Seed  uint64   // of the initial weights

	Without []int // inputs that do not count: in the rows they are taken for 0, and so are their weights

	Group       int     // with Choice: rows that are compared with one another, a divisor of Batch
	Temperature float64 // with Choice: of the softmax
}

// A Trainer fits one net, bit for bit alike on one kind of machine. It is not safe for concurrent use.
type Trainer struct {
	config  Config
	graph   *graph
	weights [][]float32 // what the graph computes with: [in][out], [1][out], by layers
	steps   int         // of Adam
	m, v    [][]float32 // its running means of gradients and their squares, one pair per weight tensor
}

// New returns a Trainer with random weights, or those of From. It returns an error for settings that do not fit each
// other.
func New(c Config) (*Trainer, error) {
	c.Loss = cmp.Or(c.Loss, Logistic)
	if c.From != nil {
		c.Sizes = Sizes(c.From)
	}
	if len(c.Sizes) < 2 || slices.Min(c.Sizes) < 1 || c.Sizes[len(c.Sizes)-1] != 1 || c.Batch < 1 {
		return nil, fmt.Errorf("trainer: sizes %v and batches of %d, want at least two sizes, the last 1", c.Sizes, c.Batch)
	}
	if c.Loss == Choice && (c.Group < 1 || c.Batch%c.Group != 0 || !(c.Temperature > 0)) {
		return nil, fmt.Errorf("trainer: batches of %d rows in groups of %d at temperature %v, "+
			"want whole groups and more than 0",
			c.Batch, c.Group, c.Temperature)
	}
	t := &Trainer{config: c}
	r := rand.New(rand.NewPCG(c.Seed, 0x76616c7565))
	for i := 0; i+1 < len(c.Sizes); i++ {
		w := make([]float32, c.Sizes[i]*c.Sizes[i+1])
		scale := math.Sqrt(2 / float64(c.Sizes[i])) // He: the spread survives a rectifier
		if i+2 == len(c.Sizes) {
			scale /= 4 // first values near even
		}
		for j := range w {
			w[j] = float32(r.NormFloat64() * scale)
		}
		t.weights = append(t.weights, w, make([]float32, c.Sizes[i+1]))
	}
	t.blank()
	for _, w := range t.weights {
		t.m = append(t.m, make([]float32, len(w)))
		t.v = append(t.v, make([]float32, len(w)))
	}
	var err error
	if t.graph, err = build(c, t.weights); err == nil && c.From != nil {
		err = t.SetNet(c.From)
	}
	return t, err
}

// blank sets the weights of inputs that do not count to 0. There they stay: in all rows these inputs are 0.
func (t *Trainer) blank() {
	out := t.config.Sizes[1]
	for _, i := range t.config.Without {
		clear(t.weights[0][i*out : (i+1)*out])
	}
}

// Close frees the graph, after which the Trainer must not be used.
func (t *Trainer) Close() error { return t.graph.vm.Close() }

// Fit takes an optimiser step on up to Batch rows, x [rows][inputs] and y [rows]; it returns their mean loss before.
func (t *Trainer) Fit(x, y []float32, rate float64) (float64, error) {
	if err := t.run(x, y); err != nil {
		return 0, err
	}
	cost := float64(t.graph.cost.Data().(float32))
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		return 0, errors.New("trainer: the loss is no longer a finite number")
	}
	t.steps++
	c1 := 1 / (1 - math.Pow(beta1, float64(t.steps)))
	c2 := 1 / (1 - math.Pow(beta2, float64(t.steps)))
	for i, w := range t.weights {
		grad, err := t.graph.weights[i].Grad()
		if err != nil {
			return 0, fmt.Errorf("trainer: gradient %d: %w", i, err)
		}
		update(w, grad.Data().([]float32), t.m[i], t.v[i], float32(rate*c1), float32(c2))
	}
	t.graph.vm.Reset() // without it the next run would be none
	return cost, nil
}

// run fills the batch, pads it with rows that count for nothing, and computes it.
func (t *Trainer) run(x, y []float32) error {
	g, in, rows := t.graph, t.config.Sizes[0], len(y)
	if rows < 1 || rows > t.config.Batch || len(x) != rows*in {
		return fmt.Errorf("trainer: %d targets and %d inputs, want up to %d rows of %d", rows, len(x), t.config.Batch, in)
	}
	clear(g.x[copy(g.x, x):])
	for _, i := range t.config.Without {
		for row := range rows {
			g.x[row*in+i] = 0
		}
	}
	clear(g.y[copy(g.y, y):])
	for i := range g.share {
		g.share[i] = 0
		if i < rows {
			g.share[i] = 1 / float32(rows)
		}
	}
	if err := g.vm.RunAll(); err != nil {
		return fmt.Errorf("trainer: %w", err)
	}
	return nil
}

// Net returns a copy of the net as it is now.
func (t *Trainer) Net() (*mlp.Net, error) {
	var layers []mlp.Layer
	for i := 0; i+1 < len(t.config.Sizes); i++ {
		l := mlp.Layer{In: t.config.Sizes[i], Out: t.config.Sizes[i+1]}
		l.W = turn(t.weights[2*i], l.In, l.Out)
		l.B = slices.Clone(t.weights[2*i+1])
		layers = append(layers, l)
	}
	return mlp.New(layers)
}

// SetNet continues from a net of the same sizes; the optimiser starts afresh.
func (t *Trainer) SetNet(n *mlp.Net) error {
	if got := Sizes(n); !slices.Equal(got, t.config.Sizes) {
		return fmt.Errorf("trainer: a net of sizes %v, want %v", got, t.config.Sizes)
	}
	for i, l := range n.Layers() {
		copy(t.weights[2*i], turn(l.W, l.Out, l.In))
		copy(t.weights[2*i+1], l.B)
	}
	t.blank()
	t.steps = 0
	for i := range t.m {
		clear(t.m[i])
		clear(t.v[i])
	}
	return nil
}

// Sizes returns the layer sizes of a net: inputs, hidden layers, outputs.
func Sizes(n *mlp.Net) []int {
	sizes := []int{n.In()}
	for _, l := range n.Layers() {
		sizes = append(sizes, l.Out)
	}
	return sizes
}

func turn(a []float32, rows, cols int) []float32 {
	out := make([]float32, len(a))
	for r := range rows {
		for c := range cols {
			out[c*rows+r] = a[r*cols+c]
		}
	}
	return out
}

// State returns the trainer's own weights and moment estimates as tensors, and the number of steps.
func (t *Trainer) State() (all []mlp.Tensor, steps int) {
	for k, data := range [][][]float32{t.weights, t.m, t.v} {
		kind := []string{"weights", "adam.mean", "adam.square"}[k]
		for i, d := range data {
			all = append(all, mlp.Tensor{Name: fmt.Sprintf("%s.%d", kind, i), Shape: []int{len(d)}, Data: d})
		}
	}
	return all, t.steps
}

// SetState restores the State of a trainer of the same sizes; training continues bit for bit.
func (t *Trainer) SetState(tensors []mlp.Tensor, steps int) error {
	byName := map[string][]float32{}
	for _, x := range tensors {
		byName[x.Name] = x.Data
	}
	all, _ := t.State()
	for _, x := range all {
		from := byName[x.Name]
		if len(from) != len(x.Data) {
			return fmt.Errorf("trainer: the state has %d numbers as %s, want %d", len(from), x.Name, len(x.Data))
		}
		copy(x.Data, from)
	}
	t.steps = steps
	return nil
}
