package env

import "math"

// A Range is what a number lies in, both ends included.
type Range struct{ Low, High float32 }

// Inf is the end of a Range that has none.
var Inf = float32(math.Inf(1))

// Ranges that many numbers of observations have.
var (
	Flag  = Range{0, 1}   // of one-hots and yes or no
	Count = Range{0, Inf} // of what is counted without end
)

// Times appends n Ranges r to list.
func (r Range) Times(n int, list []Range) []Range {
	for ; n > 0; n-- {
		list = append(list, r)
	}
	return list
}
