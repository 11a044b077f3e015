package network

import (
	"math"
	"slices"
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

// losses write the gradients of the mean loss by the outputs z to dz, given the targets y, and return that loss. Every
// product is rounded, so that no machine fuses it with a sum.
var losses = map[Loss]func(c *Config, z, y, dz []float32) float32{
	Logistic: func(_ *Config, z, y, dz []float32) (sum float32) {
		share := 1 / float32(len(y))
		for i, v := range z {
			sum += float32(share * (softplus(v) - float32(y[i]*v)))
			dz[i] = float32(sigmoid(v)*share) - float32(y[i]*share)
		}
		return sum
	},
	Square: func(_ *Config, z, y, dz []float32) (sum float32) {
		share := 1 / float32(len(y))
		for i, v := range z {
			sum += float32(share * float32((v-y[i])*(v-y[i])))
			dz[i] = 2 * float32((v-y[i])*share)
		}
		return sum
	},
	Choice: func(c *Config, z, y, dz []float32) (sum float32) {
		share, t := 1/float32(len(y)), float32(c.Temperature)
		for at := 0; at < len(z); at += c.Group {
			group, total := z[at:at+c.Group], float32(0)
			top, norm := slices.Max(group), 0.
			for i, v := range group {
				norm += math.Exp(float64((v - top) / t))
				total -= float32(y[at+i] * share)
			}
			for i, v := range group {
				log := (v-top)/t - float32(math.Log(norm)) // of the probability that it is chosen
				sum -= float32(share * float32(y[at+i]*log))
				dz[at+i] = (float32(-y[at+i]*share) - float32(float32(math.Exp(float64(log)))*total)) / t
			}
		}
		return sum
	},
}

// softplus is the logarithm of 1+e^x.
func softplus(x float32) float32 {
	switch {
	case x < -103:
		return 0
	case x > 14:
		return x
	}
	return float32(math.Log1p(math.Exp(float64(x))))
}

// sigmoid is the derivative of softplus.
func sigmoid(x float32) float32 {
	switch {
	case x < -88:
		return 0
	case x > 15:
		return 1
	}
	return float32(1 / (1 + math.Exp(float64(-x))))
}
