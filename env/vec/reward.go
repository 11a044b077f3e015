package vec

import (
	"math"

	"blockyard/env"
)

// measures are the quantities of seats whose changes are rewards: scores or potentials. A result is none: it is 0 until
// the end.
type measures [env.MaxSeats]float64

// measure sets the measures of a position.
func (e *Env) measure(w *worker, s env.State, at *measures) {
	for seat := range e.c.Seats {
		if e.c.Reward == RewardScore {
			at[seat] = float64(s.Score(seat))
		} else {
			at[seat] = e.potentialOf(w, s, seat)
		}
	}
}

// addChanges adds the changes of measures in a step, after which the game may be over, to the rewards of seats.
func (e *Env) addChanges(w *worker, s env.State, over bool, rewards []float32, before *measures) {
	after := measures{}
	if e.c.Reward == RewardScore || !over {
		e.measure(w, s, &after)
	}
	discount := 1.0
	if e.c.Reward == RewardShaped {
		discount = Discount
	}
	for seat := range rewards {
		rewards[seat] += float32(discount*after[seat] - before[seat])
	}
}

// potentialOf is the potential of a position for a seat, -1 to 1.
func (e *Env) potentialOf(w *worker, s env.State, seat int) float64 {
	s.Observe(seat, w.planes, w.globals)
	sum := 0.0
	for _, t := range e.potential {
		sum += t.weight * float64(w.globals[t.global])
	}
	return math.Tanh(sum)
}

// A term is an env.Term with the place of its global.
type term struct {
	global int
	weight float64
}
