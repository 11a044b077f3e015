package dropblox

import (
	"math/bits"

	"blockyard/env"
)

const (
	numActions = Turns * Cols * Rows
	maxLegal   = Turns * (Cols - 1) * (Rows - 1) / 2 // 704: see doc.go
	within     = 1<<Rows - 1
	margin     = MaxSize // rows above row 0 that squares of the poses tried can be in
)

// A Placement is a resting place: row and column of the block's centre, and R quarter turns.
type Placement struct{ R, J, I int }

// Action returns the placement's id.
func (p Placement) Action() env.Action { return env.Action((p.R*Cols+p.J)*Rows + p.I) }

// At returns the placement of an id.
func At(a env.Action) Placement {
	return Placement{int(a) / (Cols * Rows), int(a) / Rows % Cols, int(a) % Rows}
}

// Poses is a set of places of a centre: bit i of Poses[r][j] is row i, column j, turned r times.
type Poses [Turns][Cols]uint64

// Rest finds the places where a shape can come to rest by the five commands (rules §3), from where
// it appears. Of turns that cover the same squares it returns the first. ok is false, and rest is
// empty, if the shape has no room where it appears.
func (s *Shape) Rest(taken *Field, rest *Poses) (ok bool) {
	var fit Poses
	s.fits(taken, &fit)
	*rest = Poses{}
	if fit[0][s.Spawn.J]>>uint(s.Spawn.I)&1 == 0 {
		return false
	}
	s.flood(&fit, rest)
	for r := 0; r < s.cycle; r++ {
		for j := range rest[r] {
			rest[r][j] &^= fit[r][j] >> 1
		}
	}
	for r := 1; r < s.cycle; r++ {
		t := &s.Turn[r]
		if int(t.Twin) == r {
			continue
		}
		for j, set := range rest[r] {
			if set == 0 {
				continue
			}
			if t.TwinI >= 0 {
				rest[t.Twin][j+int(t.TwinJ)] |= set << uint(t.TwinI)
			} else {
				rest[t.Twin][j+int(t.TwinJ)] |= set >> uint(-t.TwinI)
			}
			rest[r][j] = 0
		}
	}
	return true
}

// fits finds the legal positions of every turn.
func (s *Shape) fits(taken *Field, fit *Poses) {
	var wall Field // bit i+margin is row i; squares outside the board are taken
	for j, c := range taken {
		wall[j] = (c|^uint64(within))<<margin | 1<<margin - 1
	}
	for r := 0; r < s.cycle; r++ {
		t := &s.Turn[r]
		for j := -int(t.Low.J); j+int(t.High.J) < Cols; j++ {
			hit := uint64(0)
			for _, o := range t.Offsets[:s.Size] {
				hit |= wall[j+int(o.J)] >> (uint(margin+int(o.I)) & 63)
			}
			fit[r][j] = ^hit & within
		}
	}
}

// flood finds the poses of fit that can be reached from where the shape appears.
func (s *Shape) flood(fit, reach *Poses) {
	spawn := uint64(1) << uint(s.Spawn.I)
	reach[0][s.Spawn.J] = along(spawn, fit[0][s.Spawn.J])
	for dirty := uint(1); dirty != 0; {
		r := bits.TrailingZeros(dirty)
		dirty &^= 1 << uint(r)
		sweep(&fit[r], &reach[r])
		next := r + 1
		if next >= s.cycle {
			if next = 0; s.cycle == 1 {
				continue
			}
		}
		for j, from := range reach[r] {
			if add := from & fit[next][j] &^ reach[next][j]; add != 0 {
				reach[next][j] |= along(add, fit[next][j])
				dirty |= 1 << uint(next)
			}
		}
	}
}

// sweep extends one turn's poses sideways, up and down until nothing changes.
func sweep(fit, reach *[Cols]uint64) {
	for changed := true; changed; {
		changed = false
		for j := 1; j < Cols; j++ {
			if add := reach[j-1] & fit[j] &^ reach[j]; add != 0 {
				reach[j] |= along(add, fit[j])
				changed = true
			}
		}
		for j := Cols - 2; j >= 0; j-- {
			if add := reach[j+1] & fit[j] &^ reach[j]; add != 0 {
				reach[j] |= along(add, fit[j])
				changed = true
			}
		}
	}
}

// along returns the runs of f that contain a bit of r, a subset of f. The carry of an addition
// runs from the first bit of r to the end of its run; a mirrored one runs to the beginning.
func along(r, f uint64) uint64 {
	r |= f &^ (f + r)
	f = bits.Reverse64(f)
	b := bits.Reverse64(r)
	return bits.Reverse64(f&^(f+b) | b)
}

// Actions appends the ids of rest to dst in ascending order.
func (rest *Poses) Actions(dst []env.Action) []env.Action {
	for r := range rest {
		for j, set := range rest[r] {
			for ; set != 0; set &= set - 1 {
				dst = append(dst, env.Action((r*Cols+j)*Rows+bits.TrailingZeros64(set)))
			}
		}
	}
	return dst
}
