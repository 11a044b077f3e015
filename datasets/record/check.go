package record

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"blockyard/env"
)

// ErrDiffers is wrapped by the error of Check for a game that does not replay as recorded.
var ErrDiffers = errors.New("the replayed game differs from the record")

// Check replays rec and returns nil if it has g's version of the rules, every action is legal, the
// actions end with the game, and scores and results are as recorded.
func Check(g *env.Game, rec *Record) error { return NewReplay(g, rec).check() }

// CheckNext checks the next game of r without holding all of it in memory. lookup returns a game by
// name. The result is the record's first line with the recorded end of the game. io.EOF means that there
// is no next game; after any other error that is not ErrDiffers, r must not be used.
func CheckNext(r *Reader, lookup func(name string) (*env.Game, error)) (*Record, error) {
	head := new(Record)
	if err := r.ReadPart(head); err != nil {
		return nil, err
	}
	rp := &Replay{from: r, last: head}
	g, err := lookup(head.Game)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrDiffers, err)
	} else {
		rp = r.Replay(g, head)
		err = rp.check()
	}
	for rp.more() { // a game that ended early is read to its end
		rp.last = new(Record)
		if rest := r.ReadPart(rp.last); rest != nil {
			if errors.Is(rest, io.EOF) {
				rest = ErrPartial
			}
			return head, errors.Join(err, rest)
		}
	}
	head.Scores, head.Results, head.Stopped = rp.last.Scores, rp.last.Results, rp.last.Stopped
	return head, err
}

// check replays the whole game and compares its end.
func (rp *Replay) check() error {
	for range rp.All() {
	}
	if rp.err != nil {
		return fmt.Errorf("%w: %w", ErrDiffers, rp.err)
	}
	return rp.Compare()
}

// Compare compares the position that the replay has reached with the recorded end of the game. An
// error wraps ErrDiffers.
func (rp *Replay) Compare() error {
	differs := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrDiffers, fmt.Sprintf(format, args...))
	}
	end := Record{Seats: rp.seats}
	end.End(rp.state)
	switch {
	case len(rp.choices) > 0 || rp.last.More:
		return differs("the game is over after %d choices, the record goes on", rp.ply)
	case len(rp.draws) > 0:
		return differs("draws are listed for %d steps too many", len(rp.draws))
	case rp.last.Stopped && !end.Stopped:
		return differs("the game is over, the record says it was stopped")
	case end.Stopped && !rp.last.Stopped:
		return differs("the choices end after %d, the game is not over", rp.ply)
	case !slices.Equal(end.Scores, rp.last.Scores):
		return differs("scores %v, recorded %v", end.Scores, rp.last.Scores)
	case !slices.Equal(end.Results, rp.last.Results):
		return differs("results %v, recorded %v", end.Results, rp.last.Results)
	}
	return nil
}
