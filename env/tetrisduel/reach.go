package tetrisduel

import (
	"encoding/binary"
	"math/bits"

	"blockyard/env"
	"blockyard/env/falling"
)

// places is a set of places of a centre in the mover's frame: four columns per word, of 16 bits each,
// whose bit y is row y. The last bit of a column stays 0. A word operation thus moves the places in four
// columns, and an addition makes them fall.
type places [3]uint64

const column = 16 // bits of a column

func (p *places) add(x, y int) { p[x/4] |= 1 << uint(x%4*column+y) }

// all returns the rows, as bits, in every column of a word.
func all(rows uint64) uint64 { return rows * (1 | 1<<16 | 1<<32 | 1<<48) }

// dense returns the places without the last bits of columns: bit 15*x+y, 60 bits per word.
func (p *places) dense() (out places) {
	const first = 1<<15 - 1 // of four columns
	for i, w := range p {
		out[i] = w&first | w>>1&(first<<15) | w>>2&(first<<30) | w>>3&(first<<45)
	}
	return out
}

// moved returns the places moved right by as many bits; columns and rows that are moved beyond the set are lost.
func (p *places) moved(right int) (out places) {
	from := [5]uint64{0, p[0], p[1], p[2], 0}
	at, by := 1+right>>6, uint(right&63)
	for i := range out {
		out[i] = from[at+i]>>by | from[at+i+1]<<(64-by)
	}
	return out
}

// pack returns the filled cells that the mover's blocks can reach, each one row down, on a board in the mover's frame.
func pack(b *falling.Field) places {
	const w = within
	return places{
		(b[0]&w | b[1]&w<<16 | b[2]&w<<32 | b[3]&w<<48) << 1,
		(b[4]&w | b[5]&w<<16 | b[6]&w<<32 | b[7]&w<<48) << 1,
		(b[8]&w | b[9]&w<<16) << 1,
	}
}

// packTurned is pack for a board in the other seat's frame.
func packTurned(b *falling.Field) places {
	const h, w = Height - Reachable, within
	return places{
		bits.Reverse64(b[6]>>h&w | b[7]>>h&w<<16 | b[8]>>h&w<<32 | b[9]>>h&w<<48),
		bits.Reverse64(b[2]>>h&w | b[3]>>h&w<<16 | b[4]>>h&w<<32 | b[5]>>h&w<<48),
		bits.Reverse64(b[0]>>h&w<<32 | b[1]>>h&w<<48),
	}
}

// A form is what the search needs of a block's cells in one direction.
type form struct {
	cells  [4]struct{ at, down uint8 } // where it finds a cell: an element of occupied, and the shift
	walls  places                      // no cell is beyond a wall or the last row
	inside places                      // no cell is above row 0
	same   int                         // the first direction that covers the same cells
	move   int                         // by how many bits its centre is to the left
}

// A block is the forms of a kind of block, one for each direction.
type block [Directions]form

var forms = func() (out [Kinds]block) {
	for k := range out {
		for d := range out[k] {
			f := &out[k][d]
			for i, c := range offsets[k][d] {
				f.cells[i].at, f.cells[i].down = uint8(c.X+2), uint8(c.Y+1)
				if c.Y == -2 { // always in column 0
					f.cells[i].at, f.cells[i].down = 5, 0
				}
			}
			for x := 0; x < Width; x++ {
				for y := 0; y < Reachable; y++ {
					walls, inside := true, true
					for _, c := range offsets[k][d] {
						walls = walls && x+int(c.X) >= 0 && x+int(c.X) < Width && y+int(c.Y) < Reachable
						inside = inside && y+int(c.Y) >= 0
					}
					if walls {
						f.walls.add(x, y)
					}
					if walls && inside {
						f.inside.add(x, y)
					}
				}
			}
			t := twins[k][d]
			f.same, f.move = t.to, -column*int(t.move.X)-int(t.move.Y)
		}
	}
	return out
}()

// occupied is the filled cells moved left by -2 to 2 columns, and those moved down by two rows.
type occupied [6]places

func (o *occupied) fill(cells *places) {
	a, b, c := cells[0], cells[1], cells[2]
	o[0] = places{a << 32, b<<32 | a>>32, c<<32 | b>>32}
	o[1] = places{a << 16, b<<16 | a>>48, c<<16 | b>>48}
	o[2] = *cells
	o[3] = places{a>>16 | b<<48, b>>16 | c<<48, c >> 16}
	o[4] = places{a>>32 | b<<32, b>>32 | c<<32, c >> 32}
	keep := all(within)
	o[5] = places{a & keep << 1, b & keep << 1, c & keep << 1}
}

// fits finds the places where the block covers no filled cell. Cells above row 0 are free.
func (f *form) fits(o *occupied, out *places) {
	a, b, c, d := f.cells[0], f.cells[1], f.cells[2], f.cells[3]
	p, q, r, s := &o[a.at], &o[b.at], &o[c.at], &o[d.at]
	for i := range out {
		out[i] = f.walls[i] &^ (p[i]>>(a.down&3) | q[i]>>(b.down&3) | r[i]>>(c.down&3) | s[i]>>(d.down&3))
	}
}

// rest finds the places within the board where a block comes to rest: those that steps down, sideways
// and turns lead to from any column and direction in row 0, and that have no free place below.
func (b *block) rest(cells *places, reach *[Directions]places) {
	var o occupied
	o.fill(cells)
	var fit [Directions]places
	rows := all(1)
	for d := range b {
		f, r := &fit[d], &reach[d]
		b[d].fits(&o, f)
		r[0], r[1], r[2] = fall(f[0]&rows, f[0]), fall(f[1]&rows, f[1]), fall(f[2]&rows, f[2])
	}
	flood(&fit, reach)
	for d := range reach {
		for i := range reach[d] {
			reach[d][i] &= b[d].inside[i] &^ (fit[d][i] >> 1)
		}
	}
}

// flood adds to reach what steps down, sideways and turns lead to.
func flood(fit, reach *[Directions]places) {
	for changed := true; changed; {
		changed = false
		for d := range reach {
			r, f := &reach[d], &fit[d]
			r0, r1, r2 := r[0], r[1], r[2]
			t0 := reach[0][0] | reach[1][0] | reach[2][0] | reach[3][0]
			t1 := reach[0][1] | reach[1][1] | reach[2][1] | reach[3][1]
			t2 := reach[0][2] | reach[1][2] | reach[2][2] | reach[3][2]
			n0 := (t0 | r0<<16 | r0>>16 | r1<<48) & f[0] &^ r0
			n1 := (t1 | r1<<16 | r0>>48 | r1>>16 | r2<<48) & f[1] &^ r1
			n2 := (t2 | r2<<16 | r1>>48 | r2>>16) & f[2] &^ r2
			if n0|n1|n2 != 0 {
				r[0], r[1], r[2] = fall(r0|n0, f[0]), fall(r1|n1, f[1]), fall(r2|n2, f[2])
				changed = true
			}
		}
	}
}

// fall adds the places straight below: the carry of an addition runs through free rows.
func fall(r, f uint64) uint64 { return f&^(f+r) | r }

// distinct removes placements that cover the same cells as one in a smaller direction.
func (b *block) distinct(rest *[Directions]places) {
	var seen [Directions]places
	for d := range b {
		same := b[d].same
		if same == d {
			seen[d] = rest[d]
			continue
		}
		own := seen[same].moved(-b[d].move)
		at := rest[d].moved(b[d].move)
		for i := range own {
			seen[same][i] |= at[i]
			rest[d][i] &^= own[i]
		}
	}
}

// open reports whether a block can come to rest anywhere. It tries straight falls first, which nearly always succeed.
func (b *block) open(cells *places) bool {
	var o occupied
	o.fill(cells)
	rows := all(1)
	for d := range b {
		var f places
		b[d].fits(&o, &f)
		for i := range f {
			if fall(f[i]&rows, f[i])&b[d].inside[i] != 0 {
				return true // it rests there or on a lower row
			}
		}
	}
	var rest [Directions]places
	b.rest(cells, &rest)
	return rest != [Directions]places{}
}

const (
	Actions  = Directions * Reachable * Width // the number of action ids
	maxLegal = 300
	within   = 1<<Reachable - 1 // rows that the mover's blocks can reach, as bits
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

// Placements appends to dst, in ascending order, the ids of the places where block kind (0..6) can come to rest on a
// board in the mover's frame (rules §4). Unless repeat is true, it lists placements that cover the same cells once.
func Placements(board *falling.Field, kind int, repeat bool, dst []env.Action) []env.Action {
	var rest [Directions]places
	cells := pack(board)
	forms[kind].rest(&cells, &rest)
	if !repeat {
		forms[kind].distinct(&rest)
	}
	return list(&rest, dst)
}

// list appends the ids of placements.
func list(rest *[Directions]places, dst []env.Action) []env.Action {
	for d := range rest {
		for i, set := range rest[d].dense() {
			for ; set != 0; set &= set - 1 {
				dst = append(dst, env.Action(d*Width*Reachable+i*4*Reachable+bits.TrailingZeros64(set)))
			}
		}
	}
	return dst
}

// Legal implements env.State: the places where the mover's block can come to rest, in the mover's frame (rules §4).
func (s *State) Legal(seat int, dst []env.Action) []env.Action {
	if s.Reason != Running || seat != s.Mover() {
		return dst
	}
	var rest [Directions]places
	s.legal(&rest)
	return list(&rest, dst)
}

// MaskLegal implements env.Masker, with the places that Legal lists.
func (s *State) MaskLegal(_ int, mask []byte) {
	var rest [Directions]places
	s.legal(&rest)
	word, at := uint64(0), uint(0) // a word of the mask, and its length so far
	for d := range rest {
		for i, set := range rest[d].dense() {
			word |= set << at
			length := uint(4 * Reachable)
			if i == len(places{})-1 {
				length = Width % 4 * Reachable
			}
			if at += length; at >= 64 {
				binary.LittleEndian.PutUint64(mask, word)
				mask, at = mask[8:], at-64
				word = set >> (length - at)
			}
		}
	}
	binary.LittleEndian.PutUint64(mask, word)
}

// legal finds the mover's placements. rest must be empty.
func (s *State) legal(rest *[Directions]places) {
	cells, block := s.mover()
	block.rest(&cells, rest)
	block.distinct(rest)
}

// open reports whether the mover has a placement.
func (s *State) open() bool {
	cells, block := s.mover()
	return block.open(&cells)
}

// mover returns the cells that the mover's block can reach, and the block.
func (s *State) mover() (places, *block) {
	block := &forms[s.Block(int(s.Turn))]
	if s.Mover() == 1 {
		return packTurned(&s.Cells), block
	}
	return pack(&s.Cells), block
}

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
