package env

import "context"

// An Agent chooses. It belongs to one game in progress and is not safe for concurrent
// use.
type Agent interface {
	// Act returns a legal action for seat, which is acting. s is the agent's own copy with
	// the seat's unknowns redrawn (see View): it may play on it freely and must not keep
	// it. ctx carries the time budget; an agent out of time returns its best so far.
	Act(ctx context.Context, s State, seat int) (Action, error)
}

// View makes dst the copy of s that an agent in seat may see: equal to it, with what
// seat may not know redrawn from seed. It is the only road from a game to an agent.
func View(dst, s State, seat int, seed uint64) {
	dst.CopyFrom(s)
	dst.Hide(seat, seed)
}
