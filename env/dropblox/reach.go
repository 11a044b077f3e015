package dropblox

import (
	"encoding/binary"
	"math/bits"

	"blockyard/env"
)

const (
	numActions = Turns * Cols * Rows
	maxLegal   = Turns * (Cols - 1) * (Rows - 1) / 2 // 704: see doc.go
	within     = 1<<Rows - 1
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

// mask sets the bits of the actions of rest in an empty mask of whole words.
func (rest *Poses) mask(mask []byte) {
	mask = mask[:(numActions+63)/64*8]
	word, n := uint64(0), uint(0) // the next word of the mask, and how many bits of it are known
	for r := range rest {
		for _, set := range rest[r] {
			word |= set << (n & 63)
			if n += Rows; n >= 64 {
				n -= 64
				binary.LittleEndian.PutUint64(mask, word)
				mask, word = mask[8:], set>>((Rows-n)&63)
			}
		}
	}
	binary.LittleEndian.PutUint64(mask, word)
}

// Path appends the shortest list of commands after which a drop leaves the shape on the squares of placement p, and
// reports whether there is one. Of lists of equal length it returns the first in the order of the commands.
func (s *Shape) Path(taken *Field, p Placement, dst []Command) ([]Command, bool) {
	var fit Poses
	if p.R < 0 || p.R >= Turns || p.J < 0 || p.J >= Cols || p.I < 0 || p.I >= Rows {
		return dst, false
	}
	s.fits(taken, &fit)
	for r := s.cycle; r < Turns; r++ {
		fit[r] = fit[r-s.cycle]
	}
	start := int(Placement{0, int(s.Spawn.J), int(s.Spawn.I)}.Action())
	if !fit.has(At(env.Action(start))) {
		return dst, false
	}
	var w walk
	w.come(start, start, 0)
	for head := 0; head < w.n; head++ {
		at := int(w.queue[head])
		here := At(env.Action(at))
		if s.lands(&fit, here, p) {
			return w.commands(start, at, dst), true
		}
		for c, by := range steps {
			next := Placement{(here.R + by.R) % Turns, here.J + by.J, here.I + by.I}
			if next.J >= 0 && next.J < Cols && fit.has(next) {
				w.come(int(next.Action()), at, Command(c))
			}
		}
	}
	return dst, false
}

// steps holds by how much each command changes a place.
var steps = [...]Placement{Left: {J: -1}, Right: {J: 1}, Up: {I: -1}, Down: {I: 1}, Rotate: {R: 1}}

// has reports whether p is in the set. Rows off the board are not.
func (s *Poses) has(p Placement) bool { return s[p.R][p.J]>>uint(p.I)&1 != 0 }

// lands reports whether a drop from a pose of fit leaves the shape on the squares of p.
func (s *Shape) lands(fit *Poses, from, p Placement) bool {
	t, want := &s.Turn[from.R], &s.Turn[p.R]
	if t.Column != want.Column || from.J+int(t.Low.J) != p.J+int(want.Low.J) {
		return false
	}
	for fit.has(Placement{from.R, from.J, from.I + 1}) {
		from.I++
	}
	return from.I+int(t.Low.I) == p.I+int(want.Low.I)
}

// A walk is a breadth-first search over poses, which are identified by their action ids.
type walk struct {
	queue [numActions]uint16
	from  [numActions]uint16 // the pose before plus 1, or 0 if not visited
	by    [numActions]Command
	n     int
}

func (w *walk) come(at, from int, by Command) {
	if w.from[at] == 0 {
		w.from[at], w.by[at] = uint16(from+1), by
		w.queue[w.n] = uint16(at)
		w.n++
	}
}

// commands appends the commands that lead from start to at.
func (w *walk) commands(start, at int, dst []Command) []Command {
	n := len(dst)
	for ; at != start; at = int(w.from[at]) - 1 {
		dst = append(dst, w.by[at])
	}
	for a, b := n, len(dst)-1; a < b; a, b = a+1, b-1 {
		dst[a], dst[b] = dst[b], dst[a]
	}
	return dst
}
