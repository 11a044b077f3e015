// Package playback winds a recorded game to any of its positions and paints them for people.
package playback

import (
	"math"
	"time"

	"blockyard/datasets/record"
	"blockyard/env"
)

const (
	firstSpacing = 64   // positions between two that a reel keeps, to begin with
	maxMarks     = 4096 // more than these, and every other one is given up
	maxSamples   = 1024 // of the scores
)

// A Reel is a recorded game being unrolled: Advance plays it through once, Seek then winds
// to any position that was reached. It keeps a position now and then, so that its memory
// grows with the choices (about ten bytes each) and not with the size of a position.
type Reel struct {
	Game *env.Game
	Rec  *record.Record
	// Unfinished says that the record breaks off before the game does: how it ends is not
	// compared.
	Unfinished bool

	replay  *record.Replay
	moves   []env.Moves // joint moves, one for each position reached but the last
	spacing int
	marks   []mark // positions 0, spacing, 2*spacing, …
	reached int    // positions
	done    bool
	err     error
	ahead   mark // where Advance stands
	scores  Scores

	here mark // where Seek stands
	at   int
}

// A mark is a position kept, with the colours of its settled cells.
type mark struct {
	state env.State
	ply   int
	paint paint
}

// New begins to unroll rec, a game of g. Nothing is played yet.
func New(g *env.Game, rec *record.Record) *Reel {
	return &Reel{Game: g, Rec: rec, replay: record.NewReplay(g, rec), spacing: firstSpacing}
}

// Whole unrolls rec to its end. It fails if there is not even a first position; a record
// that does not hold later is unrolled as far as it does, and Err says what is wrong.
func Whole(g *env.Game, rec *record.Record) (*Reel, error) {
	r := New(g, rec)
	r.Advance(time.Time{})
	if r.Len() == 0 {
		return nil, r.err
	}
	r.Seek(0)
	return r, nil
}

// Advance plays on until deadline, or to the end if deadline is zero, and reports whether
// the end has been reached. At least a few positions are reached by every call.
func (r *Reel) Advance(deadline time.Time) (done bool) {
	if r.done {
		return true
	}
	last, n := false, 0
	for s, m := range r.replay.All() {
		if n%32 == 31 && !deadline.IsZero() && time.Now().After(deadline) {
			return false // the position comes again
		}
		n++
		r.reach(s, m)
		last = s.Acting() == 0 || m == env.NoMoves
	}
	r.done, r.err = true, r.replay.Err()
	if r.err == nil && last && !r.Unfinished {
		r.err = r.replay.Compare()
	}
	if n := len(r.moves); n > 0 && n == r.reached {
		r.moves = r.moves[:n-1]
	}
	return true
}

// reach notes the next position and the move played from it.
func (r *Reel) reach(s env.State, m env.Moves) {
	if r.reached > 0 {
		r.ahead.paint.settle(s)
	}
	if r.reached%r.spacing == 0 {
		r.keep(s)
	}
	r.scores.add(s, r.Rec.Seats)
	r.ahead.ply += s.Acting().Len()
	r.ahead.paint.place(s, m)
	r.moves = append(r.moves, m)
	r.reached++
}

func (r *Reel) keep(s env.State) {
	kept := r.Game.New(r.Rec.Seats)
	kept.CopyFrom(s)
	r.marks = append(r.marks, mark{kept, r.ahead.ply, r.ahead.paint.clone()})
	if len(r.marks) <= maxMarks {
		return
	}
	half := r.marks[:0]
	for k := 0; k < len(r.marks); k += 2 {
		half = append(half, r.marks[k])
	}
	clear(r.marks[len(half):])
	r.marks, r.spacing = half, 2*r.spacing
}

// Len is how many positions have been reached.
func (r *Reel) Len() int { return r.reached }

// Done reports whether Advance has come to the end.
func (r *Reel) Done() bool { return r.done }

// Err is why the replay, or its end, is not as recorded; nil until that is found.
func (r *Reel) Err() error { return r.err }

// Scores are the scores on the way to where Advance stands.
func (r *Reel) Scores() *Scores { return &r.scores }

// Seek winds to position n, or the nearest that has been reached. There must be one.
func (r *Reel) Seek(n int) {
	n = max(0, min(n, r.reached-1))
	if r.here.state == nil || n < r.at || n/r.spacing > r.at/r.spacing {
		from := &r.marks[n/r.spacing]
		if r.here.state == nil {
			r.here.state = r.Game.New(r.Rec.Seats)
		}
		r.here.state.CopyFrom(from.state)
		r.here.ply, r.here.paint = from.ply, from.paint.clone()
		r.at = n / r.spacing * r.spacing
	}
	for r.at < n {
		r.step()
	}
}

// step goes from one position to the next.
func (r *Reel) step() {
	s, m := r.here.state, r.moves[r.at]
	r.here.paint.place(s, m)
	r.here.ply += s.Acting().Len()
	r.at++
	// The draws of a game dealt elsewhere are forced again.
	if r.at < len(r.Rec.Draws) {
		s.Force(r.Rec.Draws[r.at])
	}
	s.Step(m)
	r.here.paint.settle(s)
}

// At is the position that Seek led to, from 0.
func (r *Reel) At() int { return r.at }

// State is that position. It is not to be changed.
func (r *Reel) State() env.State { return r.here.state }

// Last reports whether no position comes after this one, as far as the reel has unrolled.
func (r *Reel) Last() bool { return r.at == r.reached-1 }

// Moves is the joint move played from the position: env.NoMoves from the last.
func (r *Reel) Moves() env.Moves {
	if r.at >= len(r.moves) {
		return env.NoMoves
	}
	return r.moves[r.at]
}

// Value is what the search of the seat to move thought of its choice, where the record has
// such values.
func (r *Reel) Value(seat int) (v float32, ok bool) {
	k := r.here.ply
	for set := r.here.state.Acting(); set != 0 && k < len(r.Rec.Values) && !r.Last(); set = set.Rest() {
		if set.First() == seat {
			v = r.Rec.Values[k]
			return v, !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
		}
		k++
	}
	return 0, false
}

// Show paints the position: as the game shows it, with the cells that the choices made in
// it are going to fill, and with settled cells in the colour of the piece they came with.
func (r *Reel) Show(f *env.Frame) {
	f.Reset()
	r.here.state.Show(f)
	r.here.paint.colour(f)
	if m, ok := r.here.state.(env.Marker); ok && r.Moves() != env.NoMoves {
		for k := range f.Boards {
			f.Boards[k].Unghost()
		}
		each(r.here.state, r.Moves(), func(seat int, a env.Action) { m.Mark(f, seat, a) })
	}
}

// each calls do for every seat that makes a choice.
func each(s env.State, m env.Moves, do func(seat int, a env.Action)) {
	for set := s.Acting(); set != 0; set = set.Rest() {
		if seat := set.First(); m[seat] != env.None {
			do(seat, m[seat])
		}
	}
}
