package network

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

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
	tb.Helper()
	t, err := New(c)
	require.NoError(tb, err)
	return t
}

// Values in play come from mlp, those in training from layers.
func TestLayersAgreeWithForwardPass(t *testing.T) {
	for _, sizes := range [][]int{{100, 32, 1}, {40, 64, 32, 1}, {7, 1}} {
		tr := trainer(t, Config{Sizes: sizes, Batch: 33, Seed: 5})
		for step := range 20 { // away from the first weights, whose biases are zero
			x, y := batch(uint64(step), 33, sizes[0])
			_, err := tr.Fit(x, y, 1e-2)
			require.NoError(t, err)
		}
		for _, rows := range []int{33, 5} {
			x, _ := batch(99, rows, sizes[0])
			want, got := slices.Clone(tr.forward(x, rows)), make([]float32, rows)
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
			got, err := tr.batch(x, y)
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
					require.InDelta(t, (up-down)/(2*step), tr.grads[i][j], 1e-4, "%s, tensor %d, element %d", loss, i, j)
				}
			}
		}
	}
}

func TestGradientsDoNotPileUp(t *testing.T) {
	tr := trainer(t, Config{Sizes: []int{4, 3, 1}, Batch: 8, Seed: 2})
	x, y := batch(4, 8, 4)
	var grads [2][]float32
	for i := range grads {
		_, err := tr.batch(x, y)
		require.NoError(t, err)
		grads[i] = slices.Concat(tr.grads...)
	}
	require.Equal(t, grads[0], grads[1])
}

// A batch that is not full gives what a full one of these rows gives.
func TestShortBatches(t *testing.T) {
	if !hasFMA {
		t.Log("gonum's Sgemm promises no such thing")
		return
	}
	x, y := batch(4, 5, 4)
	short := trainer(t, Config{Sizes: []int{4, 3, 1}, Batch: 8, Seed: 2})
	whole := trainer(t, Config{Sizes: []int{4, 3, 1}, Batch: 5, Seed: 2})
	for range 3 {
		a, err := short.Fit(x, y, 1e-2)
		require.NoError(t, err)
		b, err := whole.Fit(x, y, 1e-2)
		require.NoError(t, err)
		require.Equal(t, b, a)
	}
	require.Equal(t, whole.weights, short.weights)
}

// The optimiser takes the steps of Adam as it was published.
func TestAdamAgreesWithFormula(t *testing.T) {
	x, y := batch(4, 8, 4)
	c := Config{Sizes: []int{4, 3, 1}, Batch: 8, Seed: 2}
	ours, theirs := trainer(t, c), trainer(t, c)
	m, v := make([][]float64, len(theirs.weights)), make([][]float64, len(theirs.weights))
	for step := range 30 {
		_, err := ours.Fit(x, y, 1e-2)
		require.NoError(t, err)
		_, err = theirs.batch(x, y)
		require.NoError(t, err)
		for i, w := range theirs.weights {
			if step == 0 {
				m[i], v[i] = make([]float64, len(w)), make([]float64, len(w))
			}
			for j := range w {
				g := float64(theirs.grads[i][j])
				m[i][j] = 0.9*m[i][j] + 0.1*g
				v[i][j] = 0.999*v[i][j] + 0.001*g*g
				mean, square := m[i][j]/(1-math.Pow(0.9, float64(step+1))), v[i][j]/(1-math.Pow(0.999, float64(step+1)))
				w[j] -= float32(1e-2 * mean / (math.Sqrt(square) + 1e-8))
			}
		}
	}
	for i := range ours.weights {
		require.InDeltaSlice(t, theirs.weights[i], ours.weights[i], 1e-4)
	}
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
	w := slices.Clone(tr.weights[0])
	loss, err := tr.batch(x, y)
	require.NoError(t, err)
	grad := tr.grads[0]
	w0, w1 := float64(w[0]), float64(w[1])
	slope := (entropy(w0+1e-4, w1) - entropy(w0-1e-4, w1)) / 2e-4
	require.InDelta(t, entropy(w0, w1), loss, 1e-6)
	require.InDelta(t, slope, float64(grad[0]), 1e-4)
	require.InDelta(t, 0, float64(grad[1]), 1e-6)
	for _, change := range []func(*Config){
		func(c *Config) { c.Group = 0 }, func(c *Config) { c.Group = 5 }, func(c *Config) { c.Temperature = 0 },
	} {
		bad := c
		change(&bad)
		_, err = New(bad)
		require.ErrorContains(t, err, "want whole groups")
	}
}
