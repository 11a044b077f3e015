package tetrisduel

import (
	"math/bits"

	"blockyard/env"
	"blockyard/env/falling"
)

const (
	Actions  = Directions * Reachable * Width // the number of action ids
	maxLegal = 300
	within   = 1<<Reachable - 1 // rows that the mover's blocks can reach, as bits
	above    = 2                // rows above row 0 that a block's cells can be in
)

// A Placement is the resting place of a block's centre, in the mover's frame.
type Placement struct{ Y, X, D int }

// Action returns the placement's id.
func (p Placement) Action() env.Action { return env.Action(p.D*Width*Reachable + p.X*Reachable + p.Y) }

// At returns the placement of an id.
func At(a env.Action) Placement {
	rest := int(a) % (Reachable * Width)
	return Placement{rest % Reachable, rest / Reachable, int(a) / (Reachable * Width)}
}

// poses is a set of places of a centre: bit y of poses[d][x] is row y, column x, direction d.
type poses [Directions][Width]uint32

// Placements appends to dst, in ascending order, the ids of the places where block kind (0..6) can
// come to rest on a board in the mover's frame (rules §4). Unless repeat is true, it lists
// placements that cover the same cells once.
func Placements(board *falling.Field, kind int, repeat bool, dst []env.Action) []env.Action {
	var fit, reach poses
	flood(board, kind, &fit, &reach)
	var seen poses
	for d := range reach {
		low := ^uint32(0) << uint(extents[kind][d].up)
		twin := &twins[kind][d]
		for x := range reach[d] {
			rest := reach[d][x] &^ (fit[d][x] >> 1) & low
			reach[d][x] = rest
			if rest == 0 || repeat {
				continue
			}
			own := &seen[twin.to][x+int(twin.move.X)]
			moved := shift(rest, int(twin.move.Y))
			reach[d][x] = shift(moved&^*own, -int(twin.move.Y))
			*own |= moved
		}
	}
	for d := range reach {
		for x, set := range reach[d] {
			for ; set != 0; set &= set - 1 {
				dst = append(dst, Placement{bits.TrailingZeros32(set), x, d}.Action())
			}
		}
	}
	return dst
}

func shift(rows uint32, by int) uint32 {
	if by < 0 {
		return rows >> uint(-by)
	}
	return rows << uint(by)
}

// flood finds the places where the block fits, and those of them that steps down, sideways and
// turns lead to from any column and direction in row 0.
func flood(board *falling.Field, kind int, fit, reach *poses) {
	var occ [Width]uint32
	for x := range occ {
		occ[x] = (uint32(board[x]) | ^uint32(within)) << above
	}
	for d := range fit {
		e, cells := extents[kind][d], &offsets[kind][d]
		for x := e.left; x+e.right < Width; x++ {
			hit := uint32(0)
			for _, c := range cells {
				hit |= occ[x+int(c.X)] >> uint(c.Y+above)
			}
			f := ^hit & within
			fit[d][x] = f
			reach[d][x] = fall(f&1, f)
		}
	}
	for changed := true; changed; {
		changed = false
		for x := 0; x < Width; x++ {
			changed = grow(fit, reach, x, x-1) || changed
		}
		for x := Width - 1; x >= 0; x-- {
			changed = grow(fit, reach, x, x+1) || changed
		}
	}
}

// open reports whether block kind can come to rest anywhere. It tries straight falls first, which
// nearly always succeed.
func open(board *falling.Field, kind int) bool {
	for d := range offsets[kind] {
		e, cells := extents[kind][d], &offsets[kind][d]
		for x := e.left; x+e.right < Width; x++ {
			hit := uint64(0)
			for _, c := range cells {
				hit |= (board[x+int(c.X)] | ^uint64(within)) << above >> uint(c.Y+above)
			}
			if f := ^uint32(hit) & within; fall(f&1, f)>>uint(e.up) != 0 {
				return true // it rests there or on a lower row
			}
		}
	}
	var buf [maxLegal]env.Action
	return len(Placements(board, kind, false, buf[:0])) > 0
}

// grow adds to column x the places reached from column side and by turning.
func grow(fit, reach *poses, x, side int) bool {
	all := reach[0][x] | reach[1][x] | reach[2][x] | reach[3][x]
	changed := false
	for d := range reach {
		in := all
		if side >= 0 && side < Width {
			in |= reach[d][side]
		}
		if in &= fit[d][x] &^ reach[d][x]; in != 0 {
			reach[d][x] = fall(reach[d][x]|in, fit[d][x])
			changed = true
		}
	}
	return changed
}

// fall adds the places straight below: the carry of an addition runs through free rows.
func fall(r, f uint32) uint32 { return f&^(f+r) | r }

// Ordered returns placements in the order of the contest's list: y descending, then x and d ascending.
func Ordered(ids []env.Action) []Placement {
	var rows [Reachable][Width]uint8
	for _, a := range ids {
		p := At(a)
		rows[p.Y][p.X] |= 1 << p.D
	}
	out := make([]Placement, 0, len(ids))
	for y := Reachable - 1; y >= 0; y-- {
		for x, set := range rows[y] {
			for ; set != 0; set &= set - 1 {
				out = append(out, Placement{y, x, bits.TrailingZeros8(set)})
			}
		}
	}
	return out
}
