package trainer

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
)

// An adam is Adam (Kingma and Ba 2015) as a gorgonia.Solver whose state can be read and
// put back, which gorgonia's own cannot.
type adam struct {
	rate  float64 // learning rate of the next step
	steps int
	m, v  [][]float32 // running means of gradients and their squares, one pair per weight tensor
}

const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// Step implements gorgonia.Solver: it moves the weights and clears the gradients.
func (a *adam) Step(model []gorgonia.ValueGrad) error {
	a.steps++
	c1 := 1 / (1 - math.Pow(beta1, float64(a.steps)))
	c2 := 1 / (1 - math.Pow(beta2, float64(a.steps)))
	rate := float32(a.rate * c1)
	for i, node := range model {
		w, ok := node.Value().Data().([]float32)
		if !ok {
			return fmt.Errorf("trainer: weights %d are %T", i, node.Value().Data())
		}
		grad, err := node.Grad()
		if err != nil {
			return fmt.Errorf("trainer: gradient %d: %w", i, err)
		}
		g, ok := grad.Data().([]float32)
		if !ok || len(g) != len(w) || len(a.m[i]) != len(w) || len(a.v[i]) != len(w) {
			return fmt.Errorf("trainer: gradient %d does not fit %d weights", i, len(w))
		}
		update(w, g, a.m[i], a.v[i], rate, float32(c2))
	}
	return nil
}

func update(w, g, m, v []float32, rate, c2 float32) {
	g, m, v = g[:len(w)], m[:len(w)], v[:len(w)]
	for i := range w {
		m[i] += (1 - beta1) * (g[i] - m[i])
		v[i] += (1 - beta2) * (g[i]*g[i] - v[i])
		w[i] -= rate * m[i] / (float32(math.Sqrt(float64(v[i]*c2))) + epsilon)
		g[i] = 0
	}
}
