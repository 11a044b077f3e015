package env

import "fmt"

// A Checker collects the first error of a State.Check: which field has which value, and which
// values it may have. After an error its methods do nothing.
type Checker struct {
	Game string // begins the error
	In   string // the part of the state that is checked, such as "Sides[1]."
	Err  error
}

// Want notes an error if ok is false. The format names field, value and what was wanted.
func (c *Checker) Want(ok bool, format string, args ...interface{}) {
	if c.Err == nil && !ok {
		c.Err = fmt.Errorf(c.Game+": "+c.In+format, args...)
	}
}

// Range wants low ≤ v ≤ high.
func (c *Checker) Range(field string, v, low, high int) {
	c.Want(low <= v && v <= high, "%s is %d, want %d to %d", field, v, low, high)
}

// Bits wants no bits in v but those of all.
func (c *Checker) Bits(field string, v, all uint64) {
	c.Want(v&^all == 0, "%s is %#x, want no bits but those of %#x", field, v, all)
}

// Draws wants a possible queue of draws.
func (c *Checker) Draws(r *Rand) {
	c.Range("Forced", int(r.Forced), 0, MaxDraws)
	c.Range("Used", int(r.Used), 0, MaxDraws)
}
