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

// Times appends r to list n times.
func (r Range) Times(n int, list []Range) []Range {
	for ; n > 0; n-- {
		list = append(list, r)
	}
	return list
}
