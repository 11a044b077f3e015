// Package search chooses actions in any game through env.State alone: one piece
// deep, two pieces deep, a narrow third and fourth over what may come next, and, where seats
// take turns, the best reply. What a position is worth is a plug, an Evaluator. The package
// imports the standard library only and keeps to the language of Go 1.17, because
// contest bots carry it.
//
// Every search here is deterministic: of equally good actions the one with the lowest
// id is played, whatever the evaluator, and every draw on the way that a search does not
// tell apart is taken to be 0, so that hidden draws to come make no difference. A finished
// game is judged by its Result, never by the evaluator, and a loss that comes later is
// better than one that comes sooner.
//
// Agents keep the positions they look at in pools that grow once and then stay: after
// the first few moves Act allocates nothing.
package search

import (
	"context"
	"time"

	"blockyard/env"
)

// An Evaluator says how good positions are for a seat. It belongs to one agent and need
// not be safe for concurrent use.
type Evaluator interface {
	// Evaluate writes into out[i] the worth of states[i] for seat, higher being better,
	// 0 being even. All states of one call are the children of one position, reached
	// by choices of one seat alone: what the choices of that seat do not touch is the
	// same in all of them and need be looked at once. None of them is a finished game.
	// Values are comparable between the calls of one decision and stay within ±Limit.
	// len(out) == len(states) ≥ 1; the states are read, not changed and not kept.
	Evaluate(states []env.State, seat int, out []float32)
}

// A Reporter is an agent that can tell what its last search made of the position.
type Reporter interface {
	// Value is the worth of the last action chosen, in the units of the evaluator, or
	// within Far of ±Win where the search saw the end of the game.
	Value() float32
}

const (
	// Limit is the greatest worth of a position that is not a finished game.
	Limit float32 = 1e6
	// Win is the worth of a won game, less one for each ply it is away.
	Win float32 = 2e6
	// Far is more plies than any search looks ahead.
	Far float32 = 100
)

// over returns the worth for seat of s, if it is a finished game ply plies away: beyond
// Limit on the side of its Result, nearest for the result that is nearest to a draw.
func over(s env.State, seat int, ply int) (float32, bool) {
	if s.Acting() != 0 {
		return 0, false
	}
	r := s.Result(seat)
	switch {
	case r > 0:
		return Limit + r*(Win-Limit) - float32(ply), true
	case r < 0:
		return -Limit + r*(Win-Limit) + float32(ply), true
	}
	return 0, true
}

// zeros are the draws that are forced where a search does not tell draws apart.
var zeros [env.MaxDraws]uint16

// better reports whether an action worth v should replace the best so far; equal worth
// does not, and a worth that is not a number is never the better one.
func better(v, best float32) bool { return v > best || best != best }

// A clock tells a search when its time is up.
type clock struct {
	end   time.Time
	timed bool
	done  <-chan struct{}
}

func newClock(ctx context.Context) clock {
	end, timed := ctx.Deadline()
	return clock{end: end, timed: timed, done: ctx.Done()}
}

// up reports whether the time is over. It looks at the time itself as well, because on a
// busy machine a context may learn late that its deadline has passed.
func (c *clock) up() bool {
	select {
	case <-c.done:
		return true
	default:
		return c.timed && !time.Now().Before(c.end)
	}
}
