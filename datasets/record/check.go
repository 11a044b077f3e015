package record

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"blockyard/env"
)

// ErrDiffers is wrapped by what Check says of a game that ends otherwise than recorded.
var ErrDiffers = errors.New("the replayed game differs from the record")

// Check replays rec and returns nil if it is of g's rules, every choice is legal, the
// choices end with the game, and scores and results come out as recorded.
func Check(g *env.Game, rec *Record) error {
	rp := NewReplay(g, rec)
	for range rp.All() {
	}
	if rp.Err() != nil {
		return fmt.Errorf("%w: %w", ErrDiffers, rp.Err())
	}
	return compare(rp, rec)
}

// CheckNext checks the next game of r, whatever its length, without holding it in memory.
// lookup finds a game's rules by name. The head of the record comes back, as far as it was
// read; io.EOF says that there is no next game. After an error other than io.EOF or
// ErrDiffers, r is not to be read on.
func CheckNext(r *Reader, lookup func(name string) (*env.Game, error)) (*Record, error) {
	head := new(Record)
	if err := r.ReadPart(head); err != nil {
		return nil, err
	}
	last := head
	next := func() (*Record, error) {
		last = new(Record)
		err := r.ReadPart(last)
		if errors.Is(err, io.EOF) {
			err = ErrPartial
		}
		return last, err
	}
	err := checkParts(head, &last, next, lookup)
	for last.More { // a game that broke off early is read to its end
		if _, rest := next(); rest != nil {
			return head, errors.Join(err, rest)
		}
	}
	head.Scores, head.Results, head.Stopped = last.Scores, last.Results, last.Stopped
	return head, err
}

func checkParts(head *Record, last **Record, next func() (*Record, error), lookup func(string) (*env.Game, error)) error {
	g, err := lookup(head.Game)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDiffers, err)
	}
	rp := newReplay(g, head, next)
	for range rp.All() {
	}
	if rp.Err() != nil {
		return fmt.Errorf("%w: %w", ErrDiffers, rp.Err())
	}
	end := Record{Seats: head.Seats, Scores: (*last).Scores, Results: (*last).Results, Stopped: (*last).Stopped}
	return compare(rp, &end)
}

// Compare holds the position that a replay came to against what rec says of the game's end;
// of rec only seats, scores, results and whether it was stopped count. What it reports wraps
// ErrDiffers.
func (rp *Replay) Compare(rec *Record) error { return compare(rp, rec) }

// compare holds the last position of rp against what rec says of the end.
func compare(rp *Replay, rec *Record) error {
	s := rp.State()
	if left := len(rp.choices); left > 0 || rp.more {
		return fmt.Errorf("%w: the game is over after %d choices, the record goes on", ErrDiffers, rp.ply)
	}
	if len(rp.draws) > 0 {
		return fmt.Errorf("%w: draws are listed for %d steps too many", ErrDiffers, len(rp.draws))
	}
	if over := s.Acting() == 0; over == rec.Stopped {
		if over {
			return fmt.Errorf("%w: the game is over, the record says it was stopped", ErrDiffers)
		}
		return fmt.Errorf("%w: the choices end after %d, the game is not over", ErrDiffers, rp.ply)
	}
	end := Record{Seats: rec.Seats}
	end.End(s)
	if !slices.Equal(end.Scores, rec.Scores) {
		return fmt.Errorf("%w: scores %v, recorded %v", ErrDiffers, end.Scores, rec.Scores)
	}
	if !slices.Equal(end.Results, rec.Results) {
		return fmt.Errorf("%w: results %v, recorded %v", ErrDiffers, end.Results, rec.Results)
	}
	return nil
}
