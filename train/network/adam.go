package network

import "math"

// An adam is Adam (Kingma and Ba 2015). Its state can be read and put back.
type adam struct {
	steps int
	m, v  [][]float32 // running means of gradients and their squares, one pair per weight tensor
}

const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// step moves weights by their gradients at a learning rate.
func (a *adam) step(weights, gradients [][]float32, rate float64) {
	a.steps++
	c1 := 1 / (1 - math.Pow(beta1, float64(a.steps)))
	c2 := 1 / (1 - math.Pow(beta2, float64(a.steps)))
	for i, w := range weights {
		update(w, gradients[i], a.m[i], a.v[i], float32(rate*c1), float32(c2))
	}
}

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
