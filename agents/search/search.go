// Package search chooses actions by looking ahead, in any game, through env.State alone. An Evaluator says how good a
// position is.
//
// New chooses the search that fits a game and a number of plies. Random and First need no evaluator.
//
// Every search is deterministic. Among equally good actions it plays the one with the lowest id. A draw that a search
// does not average over is taken to be 0, so hidden draws make no difference. The value of a finished game comes from
// its Result, never from the evaluator; a later loss is better than an earlier one.
//
// Agents keep positions in pools that grow and never shrink: after the first few moves Act allocates nothing. The
// package imports the standard library only and uses the language of Go 1.17, because contest bots carry its code.
package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"blockyard/env"
)

// An Evaluator says how good positions are for a seat. It belongs to one agent and need not be safe for concurrent use.
type Evaluator interface {
	// Evaluate writes the value of states[i] for seat into out[i]: higher is better, 0 is even. All states of one
	// call are the children of one position, reached by actions of one seat; everything that this seat's action does
	// not change is equal in all of them and need be computed only once. None of them is a finished game. Values of
	// the calls during one decision are comparable and lie within ±Limit. len(out) == len(states) ≥ 1. Evaluate must
	// not change or keep the states.
	Evaluate(states []env.State, seat int, out []float32)
}

// A Reporter is an agent that reports the value of its last action.
type Reporter interface {
	// Value is the value of the last action in the units of the evaluator, or within Far of ±Win if the search saw
	// the end of the game.
	Value() float32
}

// reported makes an agent a Reporter.
type reported struct{ value float32 }

func (r *reported) Value() float32 { return r.value }

const (
	// Limit is the greatest value of a position that is not a finished game.
	Limit float32 = 1e6
	// Win is the value of a won game, less one for each ply before it.
	Win float32 = 2e6
	// Far is more plies than any search looks ahead.
	Far float32 = 100
)

// Chance returns the probability of winning, or of whatever else it is, of which a value is the logit.
func Chance(value float32) float64 { return 1 / (1 + math.Exp(-float64(value))) }

// Clamp returns v, kept within ±Limit.
func Clamp(v float32) float32 {
	if v > Limit {
		return Limit
	}
	if v < -Limit {
		return -Limit
	}
	return v
}

// Over values a finished game, ply plies from the root: beyond Limit on the side of its Result, if that is not 0.
func Over(s env.State, seat, ply int) (float32, bool) {
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

var zeros [env.MaxDraws]uint16 // the draws that a search forces if it does not average over draws

// better reports whether v should replace the best value so far; an equal value and NaN should not.
func better(v, best float32) bool { return v > best || best != best }

func stuck(seat int) error {
	return fmt.Errorf("seat %d has no legal action", seat)
}

// MaxPly is the greatest number of plies; more than 6 are for a Minimax with a deadline.
const MaxPly = 16

// Options select a search. The zero value is the default one.
type Options struct {
	Ply      int // plies to look ahead: 1 to 4, with turns up to MaxPly; 0 means 2
	Width    int // how many actions or pairs a selective ply goes on with; 0 means 12
	Outcomes int // draws, equally likely, that Expectimax averages over; 0 if g has no such draw
	Nodes    int // positions that Deepening evaluates, in place of Ply and Width; 0 for another search

	// Guard, if set, excludes risky first actions from a search of two plies or more of a seat's own actions.
	Guard Guard
}

// A guarded agent is one whose first actions can be limited.
type guarded interface{ SetGuard(g Guard) }

// New returns the search of g that o selects, with the evaluator e:
//
//	Ply        seats take turns    seats act at once, or alone
//	1          Greedy              Greedy
//	2          Reply               TwoPly
//	3, 4       Minimax             Expectimax
//	5 to 16    Minimax             none
func New(g *env.Game, e Evaluator, o Options) (env.Agent, error) {
	a, err := newSearch(g, e, o)
	if o.Guard == nil || err != nil {
		return a, err
	}
	t, ok := a.(guarded)
	if !ok {
		return nil, errors.New("search: a guard is for two plies or more, in a game in which seats act at once")
	}
	t.SetGuard(o.Guard)
	return a, nil
}

func newSearch(g *env.Game, e Evaluator, o Options) (env.Agent, error) {
	switch {
	case o.Nodes == 0:
	case o.Nodes < 0 || o.Outcomes < 1 || turns(g):
		return nil, fmt.Errorf("search: %d nodes in %s, want a number above 0 in a game with third plies", o.Nodes, g.Name)
	case o.Ply != 0 || o.Width != 0:
		return nil, errors.New("search: nodes are in place of ply and width, leave these out")
	default:
		return NewDeepening(g, e, o.Nodes, o.Outcomes), nil
	}
	if o.Ply == 0 {
		o.Ply = 2
	}
	if o.Width == 0 {
		o.Width = 12
	}
	if o.Width < 1 {
		return nil, fmt.Errorf("search: width %d, want at least 1", o.Width)
	}
	switch {
	case o.Ply == 1:
		return NewGreedy(g, e), nil
	case o.Ply == 2 && turns(g):
		return NewReply(g, e, o.Width), nil
	case o.Ply == 2:
		return NewTwoPly(g, e), nil
	case o.Ply >= 3 && o.Ply <= MaxPly && turns(g):
		return NewMinimax(g, e, o.Ply, o.Width), nil
	case o.Ply != 3 && o.Ply != 4:
		return nil, fmt.Errorf("search: ply %d, want 1 to 4, or up to %d in a game of turns", o.Ply, MaxPly)
	case o.Outcomes < 1:
		return nil, fmt.Errorf("search: %s has no third ply, want ply 1 or 2", g.Name)
	case o.Ply == 4:
		return NewExpectimax4(g, e, o.Width, o.Outcomes), nil
	}
	return NewExpectimax(g, e, o.Width, o.Outcomes), nil
}

// turns reports whether the seats of g take turns: there are several, and one at a time acts.
func turns(g *env.Game) bool { return g.MaxSeats > 1 && g.Rows == 1 }

// A Clock tells a search when to stop: because its time is up, or because nobody wants its result any more. A search
// asks its Clock at least once in a few hundred evaluations. The zero value never stops a search.
type Clock struct {
	end   time.Time
	timed bool // there is a deadline
	done  <-chan struct{}
	count int // evaluations since Spend last looked at the time
}

// NewClock returns a Clock that stops a search at the deadline of ctx or when ctx is cancelled.
func NewClock(ctx context.Context) Clock {
	end, timed := ctx.Deadline()
	return Clock{end: end, timed: timed, done: ctx.Done()}
}

// Until returns a Clock that stops a search at a time.
func Until(end time.Time) Clock { return Clock{end: end, timed: true} }

// Timed reports whether the clock has a deadline.
func (c *Clock) Timed() bool { return c.timed }

// Left returns the time until the deadline, which there must be; it is negative afterwards.
func (c *Clock) Left() time.Duration { return time.Until(c.end) }

// Up reports whether the search must stop. A busy machine may close a context's channel long after its deadline.
func (c *Clock) Up() bool {
	select {
	case <-c.done:
		return true
	default:
		return c.timed && !time.Now().Before(c.end)
	}
}

const spell = 256 // how many evaluations a search makes between two looks at the time

// Spend counts n evaluations and reports whether the search must stop, as far as it has looked.
func (c *Clock) Spend(n int) bool {
	if c.count += n; c.count < spell {
		return false
	}
	c.count = 0
	return c.Up()
}
