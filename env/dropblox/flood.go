package dropblox

import "math/bits"

// margin is how many rows above row 0 the squares of the poses tried can be in.
const margin = MaxSize

// Rest finds the places where a shape can come to rest by the five commands (rules §4.2), from where
// it appears. Of turns that cover the same squares it returns the first. ok is false, and rest is
// empty, if the shape has no room where it appears.
func (s *Shape) Rest(taken *Field, rest *Poses) (ok bool) {
	var fit Poses
	var found reached
	s.fits(taken, &fit)
	if fit[0][s.Spawn.J]>>uint(s.Spawn.I)&1 == 0 {
		*rest = Poses{}
		return false
	}
	s.flood(&fit, &found)
	for r := range rest {
		reach := found[r][1 : Cols+1]
		for j, f := range &fit[r] {
			rest[r][j] = reach[j] &^ (f >> 1)
		}
	}
	for r := 1; r < s.cycle; r++ {
		if t := &s.Turn[r]; int(t.Twin) != r {
			t.shift(&rest[r], &rest[t.Twin])
		}
	}
	return true
}

// shift moves the places of t to those of its twin.
func (t *Turn) shift(from, twin *[Cols]uint64) {
	for j, set := range from {
		if set == 0 {
			continue
		}
		if t.TwinI >= 0 {
			twin[j+int(t.TwinJ)] |= set << uint(t.TwinI)
		} else {
			twin[j+int(t.TwinJ)] |= set >> uint(-t.TwinI)
		}
		from[j] = 0
	}
}

// fits finds the legal positions of every turn, in fit that is empty.
func (s *Shape) fits(taken *Field, fit *Poses) {
	const pad = MaxSize
	var wall [pad + Cols + pad]uint64 // bit i+margin of wall[j+pad] is row i; squares outside the board are taken
	for j := 0; j < pad; j++ {
		wall[j], wall[pad+Cols+j] = ^uint64(0), ^uint64(0)
	}
	for j, c := range taken {
		wall[pad+j] = (c|^uint64(within))<<margin | (1<<margin - 1)
	}
	for r := 0; r < s.cycle; r++ {
		f := &fit[r]
		for _, o := range s.Turn[r].Offsets[:s.Size] {
			w, by := (*[Cols]uint64)(wall[pad+int(o.J):]), uint(margin+int(o.I))&63
			f[0] |= w[0] >> by
			f[1] |= w[1] >> by
			f[2] |= w[2] >> by
			f[3] |= w[3] >> by
			f[4] |= w[4] >> by
			f[5] |= w[5] >> by
			f[6] |= w[6] >> by
			f[7] |= w[7] >> by
			f[8] |= w[8] >> by
			f[9] |= w[9] >> by
			f[10] |= w[10] >> by
			f[11] |= w[11] >> by
		}
		for j := range f {
			f[j] = ^f[j] & within
		}
	}
}

// reached holds the poses found: bit i of reached[r][j+1] is row i, column j, turned r times. The first and the last
// column are outside the board and empty.
//
// Up and down are commands too, so of each run of legal positions in a column all are reached or none.
type reached [Turns][Cols + 2]uint64

// A column of poses is a bit: column j, turned r times, is bit 16r+j+1.
const (
	eachTurn   = 1<<0 | 1<<16 | 1<<32 | 1<<48
	allColumns = (1<<Cols - 1) << 1 * eachTurn
)

// flood finds the poses of fit that can be reached from where the shape appears. found is empty.
func (s *Shape) flood(fit *Poses, found *reached) {
	todo, ok := s.sky(fit, found) // columns that may have poses not found yet
	if !ok {
		*found = reached{}
		spawn := uint64(1) << uint(s.Spawn.I)
		found[0][s.Spawn.J+1] = runs(spawn, fit[0][s.Spawn.J])
		todo = allColumns >> uint(16*(Turns-s.cycle)) & allColumns
	}
	last := s.cycle - 1
	for todo != 0 {
		at := bits.TrailingZeros64(todo)
		bit := todo & -todo
		todo &^= bit
		r, j := at>>4&3, at&15
		next, before := bit<<16, r-1
		if r == 0 {
			before = last
		}
		if r == last {
			next = bit >> uint(16*last)
		}
		here := &found[r]
		left := fit[r][j-1] &^ here[j]
		if add := left & (here[j-1] | here[j+1] | found[before][j]); add != 0 {
			here[j] |= runs(add, left)
			todo |= (bit<<1 | bit>>1 | next) & allColumns
		}
	}
}

// sky finds the poses that are reached by going up to the top, then aside and turning, then down. It returns the
// columns that have others. ok is false if something is in the way; found is then not empty.
func (s *Shape) sky(fit *Poses, found *reached) (others uint64, ok bool) {
	for r := 0; r < s.cycle; r++ {
		t := &s.Turn[r]
		low := -int(t.Low.J)
		top := uint64(1) << (uint(-t.Low.I) & 63) // the first row in which the shape is on the board
		f, open, turn := fit[r][low:Cols-int(t.High.J)], top, uint64(0)
		out, before := found[r][low+1:][:len(f)], found[(r+Turns-1)%Turns][low+1:][:len(f)]
		bit := uint64(1) << (uint(16*r+low+1) & 63)
		for j, c := range f {
			open &= c
			left := c & (c + top)
			c &^= left
			out[j] = c
			turn |= c & before[j]
			if left != 0 {
				others |= bit
			}
			bit <<= 1
		}
		if open == 0 || r > 0 && turn == 0 {
			return 0, false
		}
	}
	return others, found[0][s.Spawn.J+1]>>uint(s.Spawn.I)&1 != 0
}

// runs returns the runs of f that contain a bit of add, a subset of f.
func runs(add, f uint64) (all uint64) {
	for add != 0 {
		first := add & -add
		begin := uint64(1) << (uint(bits.Len64(^f&(first-1))) & 63)
		run := f &^ (f + begin)
		all |= run
		add &^= run
	}
	return all
}
