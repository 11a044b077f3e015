package dropblox

import (
	"math/bits"
	"sort"
)

// An outline is a block of 6 to 10 squares, in a box that is not wider than high, as one number. From the highest bit
// down it holds the offset of the block's first column plus 8 (4 bits) and, for each of five columns, 10 bits that
// are set where a square is missing, from the top row down. Outlines compare in the order of the block table (rules
// §3.3), in which the first square that only one of two blocks has makes that block the smaller one.
type outline uint64

// A figure is a set of squares, as columns of bits, in a box of w columns and h rows.
type figure struct {
	column [MaxSize]uint16
	w, h   int
}

// key returns the outline of the figure, which has n squares.
func (f *figure) key(n int) outline {
	sum := 0
	for x, c := range f.column[:f.w] {
		sum += x * bits.OnesCount16(c)
	}
	k := outline(8 - (2*sum+n)/(2*n))
	for _, c := range f.column[:5] {
		k = k<<10 | outline(bits.Reverse16(^c)>>6)
	}
	return k
}

// turned returns the figure after a quarter turn clockwise.
func (f *figure) turned() figure {
	out := figure{w: f.h, h: f.w}
	for x, c := range f.column[:f.w] {
		for ; c != 0; c &= c - 1 {
			out.column[f.h-1-bits.TrailingZeros16(c)] |= 1 << uint(x)
		}
	}
	return out
}

// upended returns the figure after half a turn.
func (f *figure) upended() figure {
	out := figure{w: f.w, h: f.h}
	for x, c := range f.column[:f.w] {
		out.column[f.w-1-x] = bits.Reverse16(c) >> uint(16-f.h)
	}
	return out
}

// spawns reports whether the figure has the smallest key of all its turns in a box that is not wider than high.
func (f *figure) spawns(n int, k outline) bool {
	if g := f.upended(); g.key(n) < k {
		return false
	}
	if f.w < f.h {
		return true
	}
	g := f.turned()
	if g.key(n) < k {
		return false
	}
	g = g.upended()
	return g.key(n) >= k
}

// spell sets the block's squares: columns from the left, each from the top.
func (o outline) spell(b *Block) {
	left := int8(o>>50) - 8
	sum, n := 0, int8(0)
	for x := uint(0); x < 5; x++ {
		c := bits.Reverse16(^uint16(o>>(40-10*x)&1023<<6)) & 1023
		for ; c != 0; c &= c - 1 {
			i := bits.TrailingZeros16(c)
			b.Offsets[n] = Cell{int8(i), left + int8(x)}
			sum += i
			n++
		}
	}
	b.Size = n
	middle := int8((2*sum + int(n)) / (2 * int(n)))
	for k := range b.Offsets[:n] {
		b.Offsets[k].I -= middle
	}
}

// growAll returns the blocks of 6 to 10 squares in the order of their types. It visits every set of
// connected squares once, by Redelmeier's algorithm: squares are added from a list of neighbours
// found so far, and a square that was skipped is never added later. The first square is the
// leftmost one of the top row, so that no set is visited in two places.
func growAll() []outline {
	var g grower
	g.open[0] = square(MaxSize)
	g.seen[square(MaxSize)] = true
	g.grow(0, 1, 0)
	out := make([]outline, 0, Types-len(drawn))
	for n := len(drawn[11]) + 1; n <= MaxSize; n++ {
		found := g.found[n]
		sort.Slice(found, func(i, j int) bool { return found[i] < found[j] })
		out = append(out, g.found[n]...)
	}
	return out
}

const across = 2*MaxSize + 1 // squares in a row of the grower's plane

// square is a place in the plane: across*row + column.
type square int

// A grower lists the shapes of connected squares by adding one square at a time; see growAll.
type grower struct {
	cells [MaxSize]square
	open  [4 * MaxSize * MaxSize]square // neighbours in the order they were found
	seen  [across * (MaxSize + 1)]bool
	found [MaxSize + 1][]outline
}

// grow adds each of the open squares from..to-1 in turn to the n squares chosen.
func (g *grower) grow(from, to, n int) {
	for ; from < to; from++ {
		at := g.open[from]
		g.cells[n] = at
		g.keep(n + 1)
		if n+1 == MaxSize {
			continue
		}
		end := to
		for _, next := range [4]square{at + 1, at - 1, at + across, at - across} {
			if next < MaxSize || g.seen[next] { // above the top row, or left of the first square
				continue
			}
			g.seen[next] = true
			g.open[end] = next
			end++
		}
		g.grow(from+1, end, n+1)
		for _, next := range g.open[to:end] {
			g.seen[next] = false
		}
	}
}

// keep records the n squares chosen if they are turned as a block appears.
func (g *grower) keep(n int) {
	if n <= len(drawn[11]) {
		return
	}
	left, right, low := across, 0, 0
	for _, c := range g.cells[:n] {
		x, y := int(c)%across, int(c)/across
		left = min(left, x)
		right = max(right, x)
		low = max(low, y)
	}
	f := figure{w: right - left + 1, h: low + 1}
	if f.w > f.h {
		return
	}
	for _, c := range g.cells[:n] {
		f.column[int(c)%across-left] |= 1 << uint(int(c)/across)
	}
	if k := f.key(n); f.spawns(n, k) {
		g.found[n] = append(g.found[n], k)
	}
}
