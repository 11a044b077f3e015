package envtest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"blockyard/env"
)

// observation checks that Observe writes every element, that planes are within PlaneMax, and that
// globals are finite and within their ranges.
func observation(g *env.Game, seats int, seed uint64) error {
	a := view{planes: make([]uint8, g.Planes.Len()), globals: make([]float32, g.Globals())}
	b := view{planes: make([]uint8, g.Planes.Len()), globals: make([]float32, g.Globals())}
	return newWalker(g, seats, seed).each(seed, func(s env.State, _ int) error {
		for seat := range seats {
			a.poison(0xAA, 1e30)
			b.poison(0x55, -1e30)
			s.Observe(seat, a.planes, a.globals)
			s.Observe(seat, b.planes, b.globals)
			for k, v := range a.planes {
				if v != b.planes[k] {
					return fmt.Errorf("seat %d: Observe leaves plane element %d unwritten", seat, k)
				}
				if v > g.PlaneMax {
					return fmt.Errorf("seat %d: plane element %d is %d, PlaneMax %d", seat, k, v, g.PlaneMax)
				}
			}
			for k, v := range a.globals {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
					return fmt.Errorf("seat %d: global %q is %v", seat, g.GlobalNames[k], v)
				}
				if v != b.globals[k] {
					return fmt.Errorf("seat %d: Observe leaves global %q unwritten", seat, g.GlobalNames[k])
				}
				if g.GlobalRanges == nil {
					continue
				}
				if r := g.GlobalRanges[k]; !(v >= r.Low && v <= r.High) {
					return fmt.Errorf("seat %d: global %q is %v, its range %v", seat, g.GlobalNames[k], v, r)
				}
			}
		}
		return nil
	})
}

func (v view) poison(p uint8, q float32) {
	for k := range v.planes {
		v.planes[k] = p
	}
	for k := range v.globals {
		v.globals[k] = q
	}
}

// lookingOnly checks that methods which must not change the State do not change it.
func (w *walker) lookingOnly(s env.State, _ int) error {
	before := w.clone(s)
	for seat := range w.seats {
		look(w.g, s, seat)
		s.Score(seat)
		s.Result(seat)
	}
	Frame(s)
	s.Draws(nil)
	if _, err := env.Encode(nil, s); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	if !same(before, s) {
		return errors.New("looking changes the state")
	}
	return nil
}

// frames checks that every cell of a frame has a valid kind, letter and ink, and that the piece of every
// ghost is on the same board.
func (w *walker) frames(s env.State, _ int) error {
	f := Frame(s)
	if len(f.Boards) == 0 {
		return errors.New("a frame without boards")
	}
	for _, b := range f.Boards {
		if len(b.Cells) != b.W*b.H {
			return fmt.Errorf("board %q of %dx%d has %d cells", b.Name, b.W, b.H, len(b.Cells))
		}
		for _, c := range b.Cells {
			if !drawable(c) {
				return fmt.Errorf("board %q has a cell of kind %d, letter %q and ink %d", b.Name, c.Kind, c.Letter, c.Ink)
			}
			piece := env.Cell{Kind: env.CellPiece, Letter: c.Letter, Ink: c.Ink}
			if c.Kind == env.CellGhost && !slices.Contains(b.Cells, piece) {
				return fmt.Errorf("board %q has a ghost of %c without its piece", b.Name, c.Letter)
			}
		}
	}
	return nil
}

// drawable reports whether letter and ink are possible for the cell's kind: see env.Cell.
func drawable(c env.Cell) bool {
	low, high := byte(0), byte(0)
	switch c.Kind {
	case env.CellEmpty, env.CellZone:
		return c.Letter == 0 && c.Ink <= 15
	case env.CellSettled, env.CellWall:
	case env.CellPiece, env.CellGhost:
		low, high = 'A', 'Z'
	case env.CellSeat:
		low, high = '1', '1'+env.MaxSeats-1
	default:
		return false
	}
	return c.Letter >= low && c.Letter <= high && c.Ink >= 1 && c.Ink <= 15
}

// hidden checks that Hide changes nothing that the seat observes, depends only on its seed and, in a game
// that draws while it is played, redraws the future. What only Reset draws may be public.
func hidden(g *env.Game, seats int, seed uint64) error {
	w := newWalker(g, seats, seed)
	varied, drawn := false, false
	err := w.each(seed, func(s env.State, ply int) error {
		drawn = drawn || ply > 0 && len(s.Draws(nil)) > 0
		for seat := range seats {
			a, b := w.clone(s), w.clone(s)
			a.Hide(1<<seat, uint64(ply))
			b.Hide(1<<seat, uint64(ply))
			if d := w.apart(a, b); d != "" {
				return fmt.Errorf("hiding twice from one seed differs in %s", d)
			}
			if err := a.Check(); err != nil {
				return fmt.Errorf("after Hide: %w", err)
			}
			if d := look(g, s, seat).differs(look(g, a, seat)); d != "" {
				return fmt.Errorf("a Hide changes the %s of seat %d", d, seat)
			}
			if s.Acting() != a.Acting() || s.Score(seat) != a.Score(seat) || s.Result(seat) != a.Result(seat) {
				return fmt.Errorf("a Hide changes who acts, or score or result of seat %d", seat)
			}
			varied = varied || drawn && w.unfold(a, s, seat, uint64(ply)) != ""
		}
		return nil
	})
	if err == nil && drawn && !varied {
		return errors.New("the game draws, but Hide never changes what comes")
	}
	return err
}

// unfold plays the same random actions in copies of a and b for some plies. It returns where seat first
// observes a difference, or "".
func (w *walker) unfold(a, b env.State, seat int, seed uint64) string {
	a, b = w.clone(a), w.clone(b)
	same := newWalker(w.g, w.seats, seed)
	for ply := range 12 {
		if d := look(w.g, a, seat).differs(look(w.g, b, seat)); d != "" {
			return fmt.Sprintf("%s, %d plies on", d, ply)
		}
		if a.Acting() != b.Acting() {
			return fmt.Sprintf("who acts, %d plies on", ply)
		}
		if a.Acting() == 0 {
			break
		}
		m := same.moves(a)
		if env.Apply(w.g, b, m) != nil {
			return fmt.Sprintf("what is legal, %d plies on", ply)
		}
		a.Step(m)
	}
	return ""
}

// leaks checks that hidden information does not pass through Hide. Two games differ in one draw that a
// seat cannot observe yet; after a Hide with the same seed they must continue alike for that seat.
func (w *walker) leaks(s env.State, ply int) error {
	if s.Acting() == 0 {
		return nil
	}
	m := w.moves(s)
	a := w.clone(s)
	a.Step(m)
	draws := a.Draws(nil)
	for k := range draws {
		b := w.clone(s)
		other := slices.Clone(draws)
		other[k]++
		b.Force(other)
		b.Step(m)
		for seat := range w.seats {
			if a.Acting() != b.Acting() || look(w.g, a, seat).differs(look(w.g, b, seat)) != "" {
				continue
			}
			x, y := w.clone(a), w.clone(b)
			x.Hide(1<<seat, uint64(ply))
			y.Hide(1<<seat, uint64(ply))
			if d := w.unfold(x, y, seat, uint64(ply)); d != "" {
				return fmt.Errorf("draw %d, unseen by seat %d, shows through Hide: %s", k, seat, d)
			}
		}
	}
	return nil
}
