package search

import (
	"context"
	"time"
)

// A Clock tells a search when to stop: because its time is up, or because nobody wants its result any more. A search
// asks its Clock at least once in a few hundred evaluations. The zero value never stops a search.
type Clock struct {
	end   time.Time
	timed bool // there is a deadline
	done  <-chan struct{}
	count int // evaluations since Spend last looked at the time
}

// NewClock returns a Clock that stops a search when ctx ends.
func NewClock(ctx context.Context) Clock {
	end, timed := ctx.Deadline()
	return Clock{end: end, timed: timed, done: ctx.Done()}
}

// Until returns a Clock that stops a search at end.
func Until(end time.Time) Clock { return Clock{end: end, timed: true} }

// Timed reports whether there is a deadline.
func (c *Clock) Timed() bool { return c.timed }

// Left returns the time until the deadline; there is one.
func (c *Clock) Left() time.Duration { return time.Until(c.end) }

// Up reports whether the search must stop. It also compares the time itself, because on a busy machine a context may
// close its channel long after its deadline.
func (c *Clock) Up() bool {
	select {
	case <-c.done:
		return true
	default:
		return c.timed && !time.Now().Before(c.end)
	}
}

// spell is how many evaluations a search makes between two looks at the time.
const spell = 256

// Spend counts n evaluations and reports whether the search must stop, as far as it has looked.
func (c *Clock) Spend(n int) bool {
	if c.count += n; c.count < spell {
		return false
	}
	c.count = 0
	return c.Up()
}
