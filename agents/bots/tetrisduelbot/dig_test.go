package tetrisduelbot

import (
	"math/bits"

	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

// slowDigs are the digLen counts, row by row.
func slowDigs(f *falling.Field) (out [digLen]int32) {
	const all = 1<<columns - 1
	var row, holes [rows]uint16
	var tops [columns]int
	for x := range columns {
		tops[x] = min(rows, bits.TrailingZeros64(f[x]|1<<rows))
		for y := range rows {
			row[y] |= uint16(f[x]>>uint(y)&1) << uint(x)
			if y >= tops[x] {
				holes[y] |= ^row[y] & (1 << uint(x))
			}
		}
	}
	for y, r := range row {
		gaps, battle := all&^r, y >= tetrisduel.Peace
		n := bits.OnesCount16(gaps)
		if n == 0 || r == 0 && holes[y] == 0 { // no position has a full row; the sky
			continue
		}
		from, at := peaceFoulAt, 1
		switch {
		case holes[y] == 0 && battle:
			from, at = cleanAt, 5
			if n >= 2 && n <= 4 && gaps>>uint(bits.TrailingZeros16(gaps)) == 1<<uint(n)-1 {
				out[runsAt+n-2]++
			}
		case battle:
			from, at = foulAt, 3
		case holes[y] == 0:
			from, at = calmAt, 3
		}
		if n = min(n, 6); n >= at {
			out[from+n-at]++
		}
	}
	out[6] = 1
	if c, ok := slowCover(&row, &holes, &tops, 0); ok {
		copy(out[:], []int32{c.rows, c.gaps, c.holes, c.lacks, rows - c.row, c.least, 0})
	}
	if c, ok := slowCover(&row, &holes, &tops, tetrisduel.Peace); ok {
		copy(out[battleHoleAt:], []int32{c.rows, c.gaps, c.lacks, c.holes})
	}
	return out
}

// slowCover looks at the topmost row with a hole from a row on.
func slowCover(row, holes *[rows]uint16, tops *[columns]int, from int) (c cover, ok bool) {
	for y := from; y < rows; y++ {
		if holes[y] == 0 {
			continue
		}
		first := y
		for x, t := range tops {
			if holes[y]>>uint(x)&1 != 0 {
				first = min(first, t)
			}
		}
		lacks := func(r uint16) int32 { return int32(columns - bits.OnesCount16(r)) }
		c = cover{row: int32(y), holes: int32(bits.OnesCount16(holes[y])), lacks: lacks(row[y]), rows: int32(y - first), least: columns}
		for _, r := range row[first:y] {
			c.gaps += lacks(r)
			c.least = min(c.least, lacks(r))
		}
		return c, true
	}
	return c, false
}
