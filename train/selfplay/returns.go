package selfplay

import "math"

// odds turns log odds into a chance.
func odds(z float32) float32 { return float32(1 / (1 + math.Exp(-float64(z)))) }

// returns writes the λ-return of every step of a path into y, given the steps' values.
// Steps that a stretch cut off from what follows get NaN: nothing is known about them.
//
// Random choices are treated like any other: both seats make them, so that what is learnt
// is the value between players who err now and then, even at the start. Returns that do
// not look past one's own errors, but past the opponent's, make every position look good.
func returns(steps []step, lambda float64, y []float32) {
	ahead := math.NaN() // the return of the next step
	for i := len(steps) - 1; i >= 0; i-- {
		switch {
		case steps[i].kind == ended:
			ahead = float64(steps[i].result)
		case i+1 == len(steps):
		case math.IsNaN(ahead):
			ahead = float64(steps[i+1].value)
		default:
			ahead = (1-lambda)*float64(steps[i+1].value) + lambda*ahead
		}
		y[i] = float32(ahead)
	}
}
