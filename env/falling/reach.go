package falling

// A Cell is a place in a piece's box: column and row, from the top left.
type Cell struct{ X, Y int8 }

// A Piece is its orientations in a box: orientation 0 is how it spawns, o+1 is o turned
// right once.
type Piece struct {
	Turns int       // how many orientations are told apart: 1, 2 or 4
	Cells [4][]Cell // by orientation
}

// Pad is how far a box may stick out beyond the left wall.
const Pad = 3

// Poses is a set of places of a piece's box, one word for each orientation and column:
// bit i of Poses[o][x+Pad] is the box with its left edge in column x and its top edge in
// row i-head, where head is the number of rows above the board that are in play.
type Poses [4][MaxWidth + Pad + 1]uint64

// Free finds where p collides with nothing. occ holds the taken cells, bit i being row
// i-head; every bit from the floor on must be set. Walls are the edges of the first
// width columns. Only the first p.Turns orientations of free are written.
func Free(occ *Field, width int, p *Piece, free *Poses) {
	for o := 0; o < p.Turns; o++ {
		row := &free[o]
		*row = [MaxWidth + Pad + 1]uint64{}
		cells := p.Cells[o]
		lo, hi := 0, 0
		for i, c := range cells {
			if x := int(c.X); i == 0 || x < lo {
				lo = x
			}
			if x := int(c.X); x > hi {
				hi = x
			}
		}
		for x := -lo; x+hi < width; x++ {
			blocked := uint64(0)
			for _, c := range cells {
				blocked |= occ[x+int(c.X)] >> uint(c.Y)
			}
			row[x+Pad] = ^blocked
		}
	}
}

// Flood grows reach, which holds the poses to start from, to every pose that shifts,
// turns and steps down lead to through free poses. It returns how many rounds over the
// orientations that took: many only where the way winds.
func Flood(free, reach *Poses, turns int) int {
	rounds := 0
	for dirty := uint(1)<<uint(turns) - 1; dirty != 0; rounds++ {
		for o := 0; o < turns; o++ {
			if dirty>>uint(o)&1 == 0 {
				continue
			}
			dirty &^= 1 << uint(o)
			if !sweep(&free[o], &reach[o]) {
				continue
			}
			if turns > 1 {
				dirty |= turn(&reach[o], &free[(o+1)%turns], &reach[(o+1)%turns]) << uint((o+1)%turns)
				dirty |= turn(&reach[o], &free[(o+turns-1)%turns], &reach[(o+turns-1)%turns]) << uint((o+turns-1)%turns)
			}
		}
	}
	return rounds
}

// sweep spreads one orientation's poses sideways and down until nothing changes, and
// reports whether there are any.
func sweep(free, reach *[MaxWidth + Pad + 1]uint64) bool {
	met := uint64(0)
	for {
		changed, side := uint64(0), uint64(0)
		for x := 0; x < len(reach); x++ {
			f, was := free[x], reach[x]
			side = fall(was|side&f, f)
			changed |= side ^ was
			reach[x] = side
		}
		side = 0
		for x := len(reach) - 1; x >= 0; x-- {
			f, was := free[x], reach[x]
			side = fall(was|side&f, f)
			changed |= side ^ was
			reach[x] = side
			met |= side
		}
		if changed == 0 {
			return met != 0
		}
	}
}

// fall adds to r, a subset of f, every pose of f straight below one of r: adding r to f
// carries through each run of free poses from its topmost reached one down.
func fall(r, f uint64) uint64 { return f&^(f+r) | r }

// turn adds to reach the poses of from that are free in the new orientation, and returns
// 1 if any of them is new.
func turn(from, free, reach *[MaxWidth + Pad + 1]uint64) uint {
	fresh := uint64(0)
	for x := 0; x < len(from); x++ {
		v := from[x] & free[x]
		fresh |= v &^ reach[x]
		reach[x] |= v
	}
	if fresh != 0 {
		return 1
	}
	return 0
}
