package network

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blockyard/agents/mlp"

	"github.com/stretchr/testify/require"
)

// predict writes the graph's own outputs for up to Batch rows, to compare other paths with.
// It leaves the weights alone.
func (t *Trainer) predict(x, out []float32) error {
	if err := t.run(x, make([]float32, len(out))); err != nil {
		return err
	}
	copy(out, t.graph.out.Data().([]float32))
	err := t.clearGradients()
	t.graph.vm.Reset()
	return err
}

// gradients returns copies of the loss's gradients at up to Batch rows, by weight tensor.
func (t *Trainer) gradients(x, y []float32) (float64, [][]float32, error) {
	if err := t.run(x, y); err != nil {
		return 0, nil, err
	}
	var all [][]float32
	for _, n := range t.graph.weights {
		g, err := n.Grad()
		if err != nil {
			return 0, nil, fmt.Errorf("trainer: %w", err)
		}
		all = append(all, append([]float32(nil), g.Data().([]float32)...))
	}
	cost := float64(t.graph.cost.Data().(float32))
	err := t.clearGradients()
	t.graph.vm.Reset()
	return cost, all, err
}

func (t *Trainer) clearGradients() error {
	for _, n := range t.graph.weights {
		g, err := n.Grad()
		if err != nil {
			return fmt.Errorf("trainer: %w", err)
		}
		clear(g.Data().([]float32))
	}
	return nil
}

// batch draws rows of inputs and targets in 0 to 1.
func batch(seed uint64, rows, in int) (x, y []float32) {
	r := rand.New(rand.NewPCG(seed, 3))
	x, y = make([]float32, rows*in), make([]float32, rows)
	for i := range x {
		x[i] = float32(r.Float64()*2 - .5)
	}
	for i := range y {
		y[i] = float32(r.Float64())
	}
	return x, y
}

func trainer(tb testing.TB, c Config) *Trainer {
	tb.Helper()
	t, err := New(c)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, t.Close()) })
	return t
}

// Values in play come from mlp, values in training from gorgonia.
func TestGraphAgreesWithForwardPass(t *testing.T) {
	for _, sizes := range [][]int{{100, 32, 1}, {40, 64, 32, 1}, {7, 1}} {
		tr := trainer(t, Config{Sizes: sizes, Batch: 33, Seed: 5})
		for step := range 20 { // away from the first weights, whose biases are zero
			x, y := batch(uint64(step), 33, sizes[0])
			_, err := tr.Fit(x, y, 1e-2)
			require.NoError(t, err)
		}
		for _, rows := range []int{33, 5} {
			x, _ := batch(99, rows, sizes[0])
			want, got := make([]float32, rows), make([]float32, rows)
			require.NoError(t, tr.predict(x, want))
			n, err := tr.Net()
			require.NoError(t, err)
			n.Forward(x, rows, got)
			require.InDeltaSlice(t, want, got, 1e-4, "sizes %v", sizes)
		}
	}
}

// cost is the mean loss of the net by the formula, in float64.
func cost(t *testing.T, tr *Trainer, x, y []float32) float64 {
	t.Helper()
	sum, in := 0.0, tr.config.Sizes[0]
	for r := range y {
		v := make([]float64, in)
		for i := range v {
			v[i] = float64(x[r*in+i])
		}
		for l := 0; l+1 < len(tr.config.Sizes); l++ {
			next := make([]float64, tr.config.Sizes[l+1])
			for o := range next {
				next[o] = float64(tr.weights[2*l+1][o])
				for i := range v {
					next[o] += v[i] * float64(tr.weights[2*l][i*len(next)+o])
				}
				if l+2 < len(tr.config.Sizes) && next[o] < 0 {
					next[o] *= .01
				}
			}
			v = next
		}
		z, target := v[0], float64(y[r])
		if tr.config.Loss == Logistic {
			sum += math.Log1p(math.Exp(z)) - target*z
		} else {
			sum += (z - target) * (z - target)
		}
	}
	return sum / float64(len(y))
}

func TestGradientsAgreeWithDifferences(t *testing.T) {
	for _, loss := range []Loss{Logistic, Square} {
		for _, rows := range []int{12, 7} { // a full batch and a padded one
			tr := trainer(t, Config{Sizes: []int{6, 8, 5, 1}, Batch: 12, Loss: loss, Seed: 2})
			x, y := batch(4, rows, 6)
			got, grads, err := tr.gradients(x, y)
			require.NoError(t, err)
			require.InDelta(t, cost(t, tr, x, y), got, 1e-5)
			for i, w := range tr.weights {
				for _, j := range []int{0, len(w) / 2, len(w) - 1} {
					const step = 1.0 / 1024
					was := w[j]
					w[j] = was + step
					up := cost(t, tr, x, y)
					w[j] = was - step
					down := cost(t, tr, x, y)
					w[j] = was
					require.InDelta(t, (up-down)/(2*step), grads[i][j], 1e-4, "%s, tensor %d, element %d", loss, i, j)
				}
			}
		}
	}
}

func TestGradientsDoNotPileUp(t *testing.T) {
	tr := trainer(t, Config{Sizes: []int{4, 3, 1}, Batch: 8, Seed: 2})
	x, y := batch(4, 8, 4)
	_, first, err := tr.gradients(x, y)
	require.NoError(t, err)
	require.NoError(t, tr.predict(x, make([]float32, 8)))
	_, second, err := tr.gradients(x, y)
	require.NoError(t, err)
	require.Equal(t, first, second)
}

func TestLearnsExclusiveOr(t *testing.T) {
	for _, loss := range []Loss{Logistic, Square} {
		tr := trainer(t, Config{Sizes: []int{2, 16, 1}, Batch: 4, Loss: loss, Seed: 1})
		x, y := []float32{0, 0, 0, 1, 1, 0, 1, 1}, []float32{0, 1, 1, 0}
		for range 1500 {
			_, err := tr.Fit(x, y, 1e-2)
			require.NoError(t, err)
		}
		out := make([]float32, 4)
		n, err := tr.Net()
		require.NoError(t, err)
		n.Forward(x, 4, out)
		half := float32(0)
		if loss == Square {
			half = .5
		}
		for i := range y {
			require.Equal(t, y[i] > .5, out[i] > half, "%s: %v", loss, out)
		}
	}
}

func TestSameSeedSameWeights(t *testing.T) {
	run := func(seed uint64) [][]float32 {
		tr := trainer(t, Config{Sizes: []int{30, 16, 1}, Batch: 64, Seed: seed})
		for step := range 25 {
			x, y := batch(uint64(step), 64, 30)
			_, err := tr.Fit(x, y, 1e-3)
			require.NoError(t, err)
		}
		return tr.weights
	}
	require.Equal(t, run(1), run(1))
	require.NotEqual(t, run(1), run(2))
}

func TestStateGoesOnExactly(t *testing.T) {
	c := Config{Sizes: []int{10, 8, 1}, Batch: 16, Seed: 3}
	whole, first := trainer(t, c), trainer(t, c)
	c.Seed = 77
	second := trainer(t, c)
	for step := range 20 {
		x, y := batch(uint64(step), 16, 10)
		_, err := whole.Fit(x, y, 1e-2)
		require.NoError(t, err)
		half := first
		if step >= 10 {
			half = second
		}
		if step == 10 {
			tensors, steps := first.State()
			require.NoError(t, second.SetState(tensors, steps))
		}
		_, err = half.Fit(x, y, 1e-2)
		require.NoError(t, err)
	}
	require.Equal(t, whole.weights, second.weights)
	require.ErrorContains(t, trainer(t, Config{Sizes: []int{9, 8, 1}, Batch: 1}).SetState(nil, 0), "want")
}

func TestSetNet(t *testing.T) {
	a := trainer(t, Config{Sizes: []int{5, 4, 1}, Batch: 4, Seed: 1})
	b := trainer(t, Config{Sizes: []int{5, 4, 1}, Batch: 4, Seed: 2})
	n, err := a.Net()
	require.NoError(t, err)
	require.NoError(t, b.SetNet(n))
	require.Equal(t, a.weights, b.weights)
	require.Error(t, trainer(t, Config{Sizes: []int{5, 3, 1}, Batch: 4}).SetNet(n))
}

// What an input says that does not count changes nothing, neither in training nor in the net.
func TestWithout(t *testing.T) {
	c := Config{Sizes: []int{5, 4, 1}, Batch: 8, Seed: 1, Without: []int{1, 4}}
	run := func(spoil float32) *mlp.Net {
		tr := trainer(t, c)
		start, err := trainer(t, Config{Sizes: c.Sizes, Batch: 1, Seed: 2}).Net()
		require.NoError(t, err)
		require.NoError(t, tr.SetNet(start))
		for step := range 20 {
			x, y := batch(uint64(step), 8, 5)
			for i := range 8 {
				x[5*i+1], x[5*i+4] = spoil, -spoil
			}
			_, err := tr.Fit(x, y, 1e-2)
			require.NoError(t, err)
		}
		n, err := tr.Net()
		require.NoError(t, err)
		return n
	}
	require.Equal(t, run(0).Layers(), run(7).Layers())
	value := func(x ...float32) float32 {
		out := make([]float32, 1)
		run(0).Forward(x, 1, out)
		return out[0]
	}
	require.Equal(t, value(1, 0, 1, 0, 0), value(1, 9, 1, 0, -9))
	require.NotEqual(t, value(1, 0, 1, 0, 0), value(2, 0, 1, 0, 0))
}

func TestRefuses(t *testing.T) {
	for _, c := range []Config{
		{}, {Sizes: []int{3}, Batch: 1}, {Sizes: []int{3, 2}, Batch: 1}, {Sizes: []int{3, 0, 1}, Batch: 1},
		{Sizes: []int{3, 1}}, {Sizes: []int{3, 1}, Batch: 1, Loss: "x"},
	} {
		_, err := New(c)
		require.Error(t, err, "%+v", c)
	}
	tr := trainer(t, Config{Sizes: []int{3, 1}, Batch: 2})
	for _, n := range [][2]int{{3, 0}, {9, 3}, {3, 2}} {
		_, err := tr.Fit(make([]float32, n[0]), make([]float32, n[1]), 1e-3)
		require.ErrorContains(t, err, "want up to 2 rows of 3")
	}
	_, err := tr.Fit([]float32{float32(math.NaN()), 0, 0}, []float32{0}, 1e-3)
	require.ErrorContains(t, err, "finite")
}

// With Choice, the rows of a group are compared: the loss is the cross entropy of the softmax, its gradient that of
// finite differences, and what all rows of a group share does not count.
func TestChoice(t *testing.T) {
	c := Config{Sizes: []int{2, 1}, Batch: 12, Loss: Choice, Group: 4, Temperature: 0.5, Seed: 3}
	x, y := make([]float32, 16), make([]float32, 8) // two groups of three
	r := rand.New(rand.NewPCG(1, 1))
	for i := range y {
		x[2*i], x[2*i+1] = r.Float32(), float32(i/4)
		y[i] = []float32{0.1, 0.2, 0.3, 0.4}[i%4]
	}
	entropy := func(w0, w1 float64) (sum float64) {
		for at := 0; at < 8; at += 4 {
			norm := 0.
			z := func(i int) float64 { return (w0*float64(x[2*i]) + w1*float64(x[2*i+1])) / 0.5 }
			for i := at; i < at+4; i++ {
				norm += math.Exp(z(i))
			}
			for i := at; i < at+4; i++ {
				sum -= float64(y[i]) * (z(i) - math.Log(norm)) / 8
			}
		}
		return sum
	}
	tr, err := New(c)
	require.NoError(t, err)
	defer func() { require.NoError(t, tr.Close()) }()
	w := slices.Clone(tr.weights[0])
	require.NoError(t, tr.run(x, y))
	grad, err := tr.graph.weights[0].Grad()
	require.NoError(t, err)
	w0, w1 := float64(w[0]), float64(w[1])
	slope := (entropy(w0+1e-4, w1) - entropy(w0-1e-4, w1)) / 2e-4
	require.InDelta(t, entropy(w0, w1), float64(tr.graph.cost.Data().(float32)), 1e-6)
	require.InDelta(t, slope, float64(grad.Data().([]float32)[0]), 1e-4)
	require.InDelta(t, 0, float64(grad.Data().([]float32)[1]), 1e-6)
	for _, change := range []func(*Config){
		func(c *Config) { c.Group = 0 }, func(c *Config) { c.Group = 5 }, func(c *Config) { c.Temperature = 0 },
	} {
		bad := c
		change(&bad)
		_, err = New(bad)
		require.ErrorContains(t, err, "want whole groups")
	}
}
