package td

import "math"

// odds turns log odds into a chance.
func odds(z float32) float32 { return float32(1 / (1 + math.Exp(-float64(z)))) }

// returns writes the λ-return of every step of a path into y, given the steps' values.
// Steps that a stretch cut off from what follows get NaN: nothing is known about them.
//
// A return looks ahead as far as the choices were the policy's own: where the next one
// was random, it takes the value of what would have been chosen.
func returns(steps []step, lambda float64, y []float32) {
	ahead := math.NaN() // the return of the next step
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		switch {
		case s.kind&ended != 0:
			ahead = float64(s.result)
		case i+1 == len(steps):
			y[i] = float32(math.NaN())
			ahead = math.NaN()
			continue
		default:
			next := &steps[i+1]
			switch {
			case next.kind&random != 0:
				ahead = float64(next.best)
			case math.IsNaN(ahead):
				ahead = float64(next.value)
			default:
				ahead = (1-lambda)*float64(next.value) + lambda*ahead
			}
		}
		y[i] = float32(ahead)
	}
}
