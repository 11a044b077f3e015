package network

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blockyard/agents/mlp"
	"blockyard/env/envtest"

	"github.com/stretchr/testify/require"
)

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
	t := envtest.Must(New(c))
	tb.Cleanup(func() { require.NoError(tb, t.Close()) })
	return t
}

func TestStateGoesOnExactly(t *testing.T) {
	c := Config{Sizes: []int{10, 8, 1}, Batch: 16, Seed: 3}
	whole, first := trainer(t, c), trainer(t, c)
	c.Seed = 77
	second := trainer(t, c)
	require.NotEqual(t, whole.weights, second.weights)
	for step := range 20 {
		x, y := batch(uint64(step), 16, 10)
		envtest.Must(whole.Fit(x, y, 1e-2))
		half := first
		if step >= 10 {
			half = second
		}
		if step == 10 {
			tensors, steps := first.State()
			require.NoError(t, second.SetState(tensors, steps))
		}
		envtest.Must(half.Fit(x, y, 1e-2))
	}
	require.Equal(t, whole.weights, second.weights)
	require.ErrorContains(t, trainer(t, Config{Sizes: []int{9, 8, 1}, Batch: 1}).SetState(nil, 0), "want")
}

func TestSetNet(t *testing.T) {
	a := trainer(t, Config{Sizes: []int{5, 4, 1}, Batch: 4, Seed: 1})
	b := trainer(t, Config{Sizes: []int{5, 4, 1}, Batch: 4, Seed: 2})
	n := envtest.Must(a.Net())
	require.NoError(t, b.SetNet(n))
	require.Equal(t, a.weights, b.weights)
	require.Error(t, trainer(t, Config{Sizes: []int{5, 3, 1}, Batch: 4}).SetNet(n))
}

// What an input says that does not count changes nothing, neither in training nor in the net.
func TestWithout(t *testing.T) {
	c := Config{Sizes: []int{5, 4, 1}, Batch: 8, Seed: 1, Without: []int{1, 4}}
	run := func(spoil float32) *mlp.Net {
		tr := trainer(t, c)
		require.NoError(t, tr.SetNet(envtest.Must(trainer(t, Config{Sizes: c.Sizes, Batch: 1, Seed: 2}).Net())))
		for step := range 20 {
			x, y := batch(uint64(step), 8, 5)
			for i := range 8 {
				x[5*i+1], x[5*i+4] = spoil, -spoil
			}
			envtest.Must(tr.Fit(x, y, 1e-2))
		}
		return envtest.Must(tr.Net())
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
		require.Error(t, envtest.Failed(New(c)), "%+v", c)
	}
	tr := trainer(t, Config{Sizes: []int{3, 1}, Batch: 2})
	for _, n := range [][2]int{{3, 0}, {9, 3}, {3, 2}} {
		_, err := tr.Fit(make([]float32, n[0]), make([]float32, n[1]), 1e-3)
		require.ErrorContains(t, err, "want up to 2 rows of 3")
	}
	require.ErrorContains(t, envtest.Failed(tr.Fit([]float32{float32(math.NaN()), 0, 0}, []float32{0}, 1e-3)), "finite")
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
	tr := trainer(t, c)
	w := slices.Clone(tr.weights[0])
	require.NoError(t, tr.run(x, y))
	grad := envtest.Must(tr.graph.weights[0].Grad())
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
		require.ErrorContains(t, envtest.Failed(New(bad)), "want whole groups")
	}
}
