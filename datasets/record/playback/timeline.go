// Package playback gives random access to the positions of a recorded game and paints them for people.
package playback

import (
	"context"
	"math"
	"time"

	"blockyard/datasets/record"
	"blockyard/env"
)

const (
	firstSpacing = 64   // initial distance of the positions that a timeline keeps
	maxMarks     = 4096 // with more of them, the timeline drops every other one
	maxSamples   = 1024 // of the scores
)

// A Timeline is a recorded game with random access: Advance replays it once, Seek goes to any position reached. It
// keeps some of the positions, so its memory grows by about ten bytes per choice.
type Timeline struct {
	Game *env.Game
	Rec  *record.Record
	// Unfinished means that the record stops before the game does, so its end is not compared.
	Unfinished bool

	replay  *record.Replay
	moves   []env.Moves // from each position reached, except the last
	spacing int
	marks   []mark // positions 0, spacing, 2*spacing, …
	reached int    // number of positions
	done    bool
	err     error
	ahead   mark // position of Advance
	scores  Scores

	here mark // position of Seek
	at   int
}

// A mark is a kept position with the colours of its settled cells.
type mark struct {
	state env.State
	ply   int
	paint Paint
}

const hearEvery = 20 * time.Millisecond // the time between two looks at a context

// New returns a timeline for rec, a game of g, with no positions yet.
func New(g *env.Game, rec *record.Record) *Timeline {
	return &Timeline{Game: g, Rec: rec, replay: record.NewReplay(g, rec), spacing: firstSpacing}
}

// Whole returns a timeline that has advanced to the end of rec. It fails if there is no first position. If the
// record fails to replay later, the timeline ends there and Err returns the error. It also fails if ctx ends.
func Whole(ctx context.Context, g *env.Game, rec *record.Record) (*Timeline, error) {
	r := New(g, rec)
	for !r.Advance(time.Now().Add(hearEvery)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if r.Len() == 0 {
		return nil, r.err
	}
	r.Seek(0)
	return r, nil
}

// Advance replays until deadline, if that is not zero, by a few positions at least, and reports the end.
func (r *Timeline) Advance(deadline time.Time) (done bool) {
	if r.done {
		return true
	}
	last, n := false, 0
	for s, m := range r.replay.All() {
		if n%32 == 31 && !deadline.IsZero() && time.Now().After(deadline) {
			return false // the next call yields this position again
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

func (r *Timeline) reach(s env.State, m env.Moves) {
	if r.reached > 0 {
		r.ahead.paint.Settle(s)
	}
	if r.reached%r.spacing == 0 {
		r.keep(s)
	}
	var scores [env.MaxSeats]int
	for seat := range r.Rec.Seats {
		scores[seat] = s.Score(seat)
	}
	r.scores.Note(scores[:r.Rec.Seats])
	r.ahead.ply += s.Acting().Len()
	r.ahead.paint.Place(s, m)
	r.moves = append(r.moves, m)
	r.reached++
}

func (r *Timeline) keep(s env.State) {
	kept := r.Game.New(r.Rec.Seats)
	kept.CopyFrom(s)
	r.marks = append(r.marks, mark{kept, r.ahead.ply, r.ahead.paint.clone()})
	if len(r.marks) <= maxMarks {
		return
	}
	r.marks, r.spacing = everyOther(r.marks), 2*r.spacing
}

// Len returns the number of positions reached so far, with the first one.
func (r *Timeline) Len() int { return r.reached }

// Done reports whether Advance has reached the end of the game, or cannot go on because of Err.
func (r *Timeline) Done() bool { return r.done }

// Err returns the first error of the replay so far, or the first difference from the record, or nil.
func (r *Timeline) Err() error { return r.err }

// Scores returns the scores of the positions that Advance has reached. The Timeline keeps them and adds to them.
func (r *Timeline) Scores() *Scores { return &r.scores }

// Seek goes to position n, or to the nearest one reached. There must be at least one.
func (r *Timeline) Seek(n int) {
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
	for s := r.here.state; r.at < n; {
		m := r.moves[r.at]
		r.here.paint.Place(s, m)
		r.here.ply += s.Acting().Len()
		if r.at++; r.at < len(r.Rec.Draws) { // the draws of a game that was played elsewhere
			s.Force(r.Rec.Draws[r.at])
		}
		s.Step(m)
		r.here.paint.Settle(s)
	}
}

// At is the number of the current position, from 0.
func (r *Timeline) At() int { return r.at }

// State is the current position. The caller must not change it.
func (r *Timeline) State() env.State { return r.here.state }

// Last reports whether the current position is the last one reached.
func (r *Timeline) Last() bool { return r.at == r.reached-1 }

// Moves returns the moves played from the current position; env.NoMoves from the last.
func (r *Timeline) Moves() env.Moves {
	if r.at >= len(r.moves) {
		return env.NoMoves
	}
	return r.moves[r.at]
}

// Value returns the recorded search value of the seat's action, if the record has one.
func (r *Timeline) Value(seat int) (v float32, ok bool) {
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

// Show paints the current position, what the actions from it fill, and settled cells in their pieces' colours.
func (r *Timeline) Show(f *env.Frame) { r.ShowMoves(f, r.Moves()) }

// ShowMoves is Show with other legal actions instead of those that were played.
func (r *Timeline) ShowMoves(f *env.Frame, moves env.Moves) {
	f.Reset()
	r.here.state.Show(f)
	r.here.paint.Colour(f)
	if m, ok := r.here.state.(env.Marker); ok && moves != env.NoMoves {
		for k := range f.Boards {
			f.Boards[k].Unghost()
		}
		each(r.here.state, moves, func(seat int, a env.Action) { m.Mark(f, seat, a) })
	}
}

func each(s env.State, m env.Moves, do func(seat int, a env.Action)) {
	for set := s.Acting(); set != 0; set = set.Rest() {
		if seat := set.First(); m[seat] != env.None {
			do(seat, m[seat])
		}
	}
}

// Scores are the scores of every seat, sampled at equal distances through a game.
type Scores struct {
	Every int     // positions from one sample to the next
	Seats [][]int // [seat][sample]
	n     int     // positions seen
}

// Note adds the scores in the next position, one per seat.
func (c *Scores) Note(now []int) {
	if c.Seats == nil {
		c.Every, c.Seats = 1, make([][]int, len(now))
	}
	if c.n%c.Every == 0 {
		for seat := range c.Seats {
			c.Seats[seat] = append(c.Seats[seat], now[seat])
		}
	}
	c.n++
	if len(c.Seats) == 0 || len(c.Seats[0]) <= maxSamples {
		return
	}
	for seat, all := range c.Seats {
		c.Seats[seat] = everyOther(all)
	}
	c.Every *= 2
}

// everyOther keeps the elements 0, 2, 4, … of a list in its memory.
func everyOther[T any](list []T) []T {
	half := list[:0]
	for k := 0; k < len(list); k += 2 {
		half = append(half, list[k])
	}
	clear(list[len(half):])
	return half
}
