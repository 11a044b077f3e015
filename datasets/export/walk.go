// Package export writes recorded games as Parquet shards, Minari datasets, and text for language models. A Walker
// replays records and sends rows to a Sink: a decision of a seat, and what changed until its next one.
package export

import (
	"context"
	"fmt"
	"slices"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
)

// A Row is one decision of one seat. Its slices are reused for the next row.
type Row struct {
	Game    int64     // number of the game in the export, from 0
	Seed    uint64    // of the game
	Policy  string    // agent on the seat
	Step    int       // steps played before in the game
	Seat    int       // the seat that acts
	Planes  []uint8   // its observation, [C, H, W]
	Globals []float32 // its observation, [Globals]
	Mask    []uint8   // its legal actions: bit a&7 of byte a>>3
	Legal   []env.Action
	Text    string // the position in words, if the Walker has Texts
	Action  env.Action
	Score   int // its points before the action

	// Until its next decision, or the end of the game:
	Reward     float32 // change of its result
	Points     int     // change of its points
	Terminated bool    // it had no other decision because the game ended
	Truncated  bool    // it had no other decision because the game was stopped

	Value    float32 // the search's evaluation of the action
	HasValue bool

	open bool // the outcome is not known yet
}

// A Sink receives rows game by game, those of a seat in order of play, each when its outcome is known.
type Sink interface {
	// Row takes the next row, which is valid during the call only.
	Row(r *Row) error
	// End ends the game with its last position s, which the Sink must not keep.
	End(s env.State) error
	// Close completes the export; sources are the files that were exported.
	Close(sources []Source) error
	// Discard closes all files. The folder is incomplete unless the export was closed before.
	Discard()
}

// A Walker sends the decisions of recorded games to a sink, in memory that does not grow with their length.
type Walker struct {
	sink Sink
	game *env.Game

	Others      bool  // skip other games; by default they are an error
	Texts       bool  // rows have a Text
	Games, Rows int64 // exported so far

	seats [env.MaxSeats]Row // the last decision of each
}

// NewWalker returns a Walker that sends the rows of games of g to sink.
func NewWalker(g *env.Game, sink Sink) *Walker {
	w := &Walker{sink: sink, game: g}
	for k := range w.seats {
		r := &w.seats[k]
		r.Planes, r.Globals, r.Mask = make([]uint8, g.Planes.Len()), make([]float32, g.Globals()), make([]uint8, g.MaskLen())
	}
	return w
}

// Next exports the next game of r; io.EOF means that there is none. A game with another version of the
// rules, or that does not replay as recorded, is an error. The sink then has received a part of it.
func (w *Walker) Next(ctx context.Context, r *record.Reader) error {
	head, err := w.head(r)
	if err != nil {
		return err
	}
	for seat, agent := range head.Agents {
		row := &w.seats[seat]
		row.Game, row.Seed, row.Seat, row.Policy = w.Games, head.Seed, seat, agent
	}
	rp := r.Replay(w.game, head)
	if err := w.play(ctx, rp); err != nil {
		return err
	}
	if err := rp.Compare(); err != nil {
		return err
	}
	w.Games++
	return w.finish(rp.State())
}

func (w *Walker) head(r *record.Reader) (*record.Record, error) {
	for {
		head := new(record.Record)
		if err := r.ReadPart(head); err != nil {
			return nil, err
		}
		if head.Game == w.game.Name {
			return head, nil
		}
		if !w.Others {
			return nil, fmt.Errorf("a record of %s, want %s: an export has one game only, so select it with --game",
				head.Game, w.game.Name)
		}
		for head.More {
			if err := r.ReadPart(head); err != nil {
				return nil, err
			}
		}
	}
}

// play exports every decision that is followed by another one of the same seat.
func (w *Walker) play(ctx context.Context, rp *record.Replay) error {
	step := 0
	for s, m := range rp.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if rp.Last() {
			break
		}
		k := 0
		for set := s.Acting(); set != 0; set = set.Rest() {
			if err := w.choose(s, set.First(), m[set.First()], step); err != nil {
				return err
			}
			r := &w.seats[set.First()]
			r.Value, r.HasValue = rp.Value(k)
			k++
		}
		step++
	}
	return rp.Err()
}

// choose exports the seat's previous decision and stores its decision in s.
func (w *Walker) choose(s env.State, seat int, a env.Action, step int) error {
	r := &w.seats[seat]
	if err := w.settle(r, s); err != nil {
		return err
	}
	s.Observe(seat, r.Planes, r.Globals)
	r.Legal = s.Legal(seat, r.Legal[:0])
	setMask(r.Mask, r.Legal)
	if w.Texts {
		var f env.Frame
		s.Show(&f)
		r.Text = games.Describe(w.game, &f, s.SeatCount(), seat, "It is your turn.")
	}
	r.Step, r.Action, r.Score = step, a, s.Score(seat)
	r.Terminated, r.Truncated, r.open = false, false, true
	return nil
}

// settle exports a pending decision with its outcome s.
func (w *Walker) settle(r *Row, s env.State) error {
	if !r.open {
		return nil
	}
	r.open = false
	r.Points, r.Reward = s.Score(r.Seat)-r.Score, s.Result(r.Seat)
	w.Rows++
	return w.sink.Row(r)
}

// finish exports the last decision of every seat, in order of play.
func (w *Walker) finish(s env.State) error {
	var left []*Row
	for k := range w.seats {
		if w.seats[k].open {
			left = append(left, &w.seats[k])
		}
	}
	slices.SortStableFunc(left, func(a, b *Row) int { return a.Step - b.Step })
	for _, r := range left {
		r.Terminated, r.Truncated = s.Acting() == 0, s.Acting() != 0
		if err := w.settle(r, s); err != nil {
			return err
		}
	}
	return w.sink.End(s)
}
