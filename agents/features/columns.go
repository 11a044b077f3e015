package features

import "strconv"

// stepMax is the greatest step between neighbouring columns that features distinguish.
const stepMax = 6

// ColumnNames names what Columns writes for so many columns, with prefix before each name.
func ColumnNames(prefix string, columns int) (names []string) {
	for i, what := range [...]string{"height ", "step ", "step size "} {
		first := 1
		if i == 0 {
			first = 0
		}
		for x := first; x < columns; x++ {
			names = append(names, prefix+what+strconv.Itoa(x))
		}
	}
	return names
}

// Columns writes the features of a surface whose columns begin at rows tops, counted downwards,
// above row floor: the heights of the columns times height, then the steps from one column to the
// next times step, then the sizes of these steps. It returns the rest of out.
func Columns(floor int, tops []int, height, step float32, out []float32) []float32 {
	n := len(tops)
	for x, t := range tops {
		out[x] = float32(floor-t) * height
		if x == 0 {
			continue
		}
		d := tops[x-1] - t
		if d > stepMax {
			d = stepMax
		}
		if d < -stepMax {
			d = -stepMax
		}
		out[n+x-1] = float32(d) * step
		if d < 0 {
			d = -d
		}
		out[2*n+x-2] = float32(d) * step
	}
	return out[3*n-2:]
}
