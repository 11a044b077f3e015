package env

import "math"

// A Range is an interval of numbers that includes both ends.
type Range struct{ Low, High float32 }

// Inf is the High of a Range without an upper bound.
var Inf = float32(math.Inf(1))

// Ranges that many globals share.
var (
	Flag  = Range{0, 1}   // one-hot encodings, and yes or no
	Count = Range{0, Inf} // counts without an upper bound
)

// Globals collects the names and ranges of a Game's globals.
type Globals struct {
	Names  []string
	Ranges []Range
}

// Add appends globals that have the same range.
func (g *Globals) Add(r Range, names ...string) {
	for _, name := range names {
		g.Names, g.Ranges = append(g.Names, name), append(g.Ranges, r)
	}
}
