package env

import "context"

// An Agent chooses actions. It belongs to one game in progress and is not safe for concurrent
// use.
type Agent interface {
	// Act returns a legal action for seat, which is acting. s is a copy in which everything
	// hidden from the seat has been redrawn (see View). The agent may play on it during the
	// call but must not keep it. ctx carries the time limit: an agent that runs out of time
	// returns the best action it has found so far.
	Act(ctx context.Context, s State, seat int) (Action, error)
}

// View makes dst a copy of s in which everything hidden from seat is redrawn from seed. Every
// position that an agent receives goes through View.
func View(dst, s State, seat int, seed uint64) {
	dst.CopyFrom(s)
	dst.Hide(1<<uint(seat), seed)
}
