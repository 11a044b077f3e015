package trainer

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
)

// An adam is Adam (Kingma and Ba 2015), whose state can be read and put back, which that of
// gorgonia's own cannot.
type adam struct {
	steps int
	m, v  [][]float32 // running means of gradients and their squares, one pair per weight tensor
}

const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// step moves the weights of nodes at a learning rate and clears their gradients.
func (a *adam) step(weights [][]float32, nodes gorgonia.Nodes, rate float64) error {
	a.steps++
	c1 := 1 / (1 - math.Pow(beta1, float64(a.steps)))
	c2 := 1 / (1 - math.Pow(beta2, float64(a.steps)))
	for i, w := range weights {
		grad, err := nodes[i].Grad()
		if err != nil {
			return fmt.Errorf("trainer: gradient %d: %w", i, err)
		}
		update(w, grad.Data().([]float32), a.m[i], a.v[i], float32(rate*c1), float32(c2))
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
