package phases

import "math"

// odds turns log odds into a chance.
func odds(z float32) float32 { return float32(1 / (1 + math.Exp(-float64(z)))) }

// returns writes the λ-return of every step of a path into y, given the steps' values.
// Steps whose successors the end of the rollout cut off get NaN: nothing is known about them.
//
// Random choices are treated like any other. Both seats make them, so that the value is
// that of a game between players who err now and then, even at the start. Returns that
// stopped at one's own errors, but not at the opponent's, would make every position look good.
func returns(steps []step, lambda float64, y []float32) {
	ahead := math.NaN() // the return of the next step
	for i := len(steps) - 1; i >= 0; i-- {
		switch {
		case steps[i].Ended:
			ahead = float64(steps[i].Result)
		case i+1 == len(steps):
		case math.IsNaN(ahead):
			ahead = float64(steps[i+1].Value)
		default:
			ahead = (1-lambda)*float64(steps[i+1].Value) + lambda*ahead
		}
		y[i] = float32(ahead)
	}
}
