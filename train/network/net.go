// Package network is a network in training: it takes optimiser steps on batches of rows and returns the weights as an
// mlp.Net, by which games are played.
package network

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"blockyard/agents/mlp"
)

// A Config holds the settings of a Trainer.
type Config struct {
	Sizes []int  // inputs, hidden layers, 1
	Batch int    // rows of a full batch; learning is fastest at 256 and more
	Loss  Loss   // Logistic if empty
	Seed  uint64 // of the initial weights

	Group       int     // with Choice: rows that are compared with one another, a divisor of Batch
	Temperature float64 // with Choice: of the softmax
}

// A Trainer fits one net. It is not safe for concurrent use. The same configuration and
// the same calls give the same weights, bit for bit, on one kind of machine.
type Trainer struct {
	config  Config
	layers  []layer
	adam    adam
	weights [][]float32 // [in][out], [out], by layers
	grads   [][]float32 // of the weights, after a batch

	multiplier multiplier
}

// New returns a trainer with random initial weights.
func New(c Config) (*Trainer, error) {
	if c.Loss == "" {
		c.Loss = Logistic
	}
	if len(c.Sizes) < 2 || slices.Min(c.Sizes) < 1 || c.Sizes[len(c.Sizes)-1] != 1 || c.Batch < 1 {
		return nil, fmt.Errorf("trainer: sizes %v and batches of %d, want at least two sizes, the last 1", c.Sizes, c.Batch)
	}
	if c.Loss == Choice && (c.Group < 1 || c.Batch%c.Group != 0 || !(c.Temperature > 0)) {
		return nil, fmt.Errorf("trainer: batches of %d rows in groups of %d at temperature %v, "+
			"want whole groups and more than 0",
			c.Batch, c.Group, c.Temperature)
	}
	if losses[c.Loss] == nil {
		return nil, fmt.Errorf("trainer: no loss named %q", c.Loss)
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
		below := float32(slope)
		if i+2 == len(c.Sizes) {
			below = 1
		}
		l := newLayer(w, make([]float32, c.Sizes[i+1]), c.Batch, below)
		t.layers, t.weights, t.grads = append(t.layers, l), append(t.weights, l.w, l.b), append(t.grads, l.dw, l.db)
	}
	for _, w := range t.weights {
		t.adam.m = append(t.adam.m, make([]float32, len(w)))
		t.adam.v = append(t.adam.v, make([]float32, len(w)))
	}
	return t, nil
}

// Fit takes one optimiser step with the given learning rate on up to Batch rows, x [rows][inputs]
// and targets y [rows], and returns their mean loss before the step. The loss is the mean over the
// given rows, also if they are fewer than Batch.
func (t *Trainer) Fit(x, y []float32, rate float64) (float64, error) {
	cost, err := t.batch(x, y)
	if err != nil {
		return 0, err
	}
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		return 0, errors.New("trainer: the loss is no longer a finite number")
	}
	t.adam.step(t.weights, t.grads, rate)
	return cost, nil
}

// batch computes the mean loss of some rows and its gradients.
func (t *Trainer) batch(x, y []float32) (float64, error) {
	in, rows, last := t.config.Sizes[0], len(y), len(t.layers)-1
	if rows < 1 || rows > t.config.Batch || len(x) != rows*in || t.config.Loss == Choice && rows%t.config.Group != 0 {
		return 0, fmt.Errorf("trainer: %d targets and %d inputs, want up to %d rows of %d", rows, len(x), t.config.Batch, in)
	}
	z := t.forward(x, rows)
	cost := losses[t.config.Loss](&t.config, z, y, t.layers[last].dy[:rows])
	for i := last; i > 0; i-- {
		before := &t.layers[i-1]
		t.layers[i].backward(&t.multiplier, before.y, before.dy, rows)
	}
	t.layers[0].backward(&t.multiplier, x, nil, rows) // nobody needs the gradient of x
	return float64(cost), nil
}

// forward computes the outputs of some rows.
func (t *Trainer) forward(x []float32, rows int) []float32 {
	for i := range t.layers {
		x = t.layers[i].forward(&t.multiplier, x, rows)
	}
	return x
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
	t.adam.steps = 0
	for i := range t.adam.m {
		clear(t.adam.m[i])
		clear(t.adam.v[i])
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

// turn transposes a [rows][cols] matrix.
func turn(a []float32, rows, cols int) []float32 {
	out := make([]float32, len(a))
	for r := range rows {
		for c := range cols {
			out[c*rows+r] = a[r*cols+c]
		}
	}
	return out
}

// tensors are the weights and the optimiser's means, in the trainer's own memory.
func (t *Trainer) tensors() (all []mlp.Tensor) {
	for k, data := range [][][]float32{t.weights, t.adam.m, t.adam.v} {
		kind := []string{"weights", "adam.mean", "adam.square"}[k]
		for i, d := range data {
			all = append(all, mlp.Tensor{Name: fmt.Sprintf("%s.%d", kind, i), Shape: []int{len(d)}, Data: d})
		}
	}
	return all
}

// State returns all that is needed to continue training: the weights and Adam's moment estimates,
// as tensors, and the number of steps taken.
func (t *Trainer) State() ([]mlp.Tensor, int) {
	all := t.tensors()
	for i := range all {
		all[i].Data = slices.Clone(all[i].Data)
	}
	return all, t.adam.steps
}

// SetState restores the State of a trainer of the same sizes; training continues bit for bit.
func (t *Trainer) SetState(tensors []mlp.Tensor, steps int) error {
	byName := map[string][]float32{}
	for _, x := range tensors {
		byName[x.Name] = x.Data
	}
	for _, x := range t.tensors() {
		from := byName[x.Name]
		if len(from) != len(x.Data) {
			return fmt.Errorf("trainer: the state has %d numbers as %s, want %d", len(from), x.Name, len(x.Data))
		}
		copy(x.Data, from)
	}
	t.adam.steps = steps
	return nil
}
