package match

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blockyard/datasets/record"
	"blockyard/datasets/record/playback"
	"blockyard/env"
)

// MaxBook is the largest number of games in a book.
const MaxBook = 100_000

// A Book is positions that games begin with, as env.Encode writes them. Agents that both play well from the first
// position share most pairs; positions of decided games, each played from every seat, tell them apart sooner.
type Book [][]byte

// ReadBook reads a file of recorded games of g with this number of seats. Each game yields the position after a share
// of its steps, 0 or more and below 1, or none if that is its last position.
func ReadBook(ctx context.Context, path string, g *env.Game, seats int, share float64) (b Book, err error) {
	if !(share >= 0 && share < 1) {
		return nil, fmt.Errorf("%g of a game's steps: want 0 or more, and less than 1", share)
	}
	in, err := record.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	in.Use(ctx)
	n := 0
	for rec, err := range in.All() {
		if n++; err == nil && n > MaxBook {
			err = fmt.Errorf("%s: more than %d games", path, MaxBook)
		}
		if err != nil {
			return nil, err
		}
		start, err := position(g, seats, rec, share)
		if err != nil {
			return nil, fmt.Errorf("%s: game %d: %w", path, n, err)
		}
		if start != nil {
			b = append(b, start)
		}
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%s: no game with a position to begin with", path)
	}
	return b, nil
}

// position encodes the position of a game after a share of its steps; nil if nobody acts there.
func position(g *env.Game, seats int, rec *record.Record, share float64) ([]byte, error) {
	if rec.Seats != seats {
		return nil, fmt.Errorf("%d seats, want %d", rec.Seats, seats)
	}
	line := playback.New(g, rec)
	line.Unfinished = true // how the game ends does not matter here
	line.Advance(time.Time{})
	if err := line.Err(); err != nil {
		return nil, err
	}
	line.Seek(int(share * float64(line.Len()-1)))
	if line.State().Acting() == 0 {
		return nil, nil
	}
	return env.Encode(nil, line.State())
}

// start is the first position of a unit: that of the book whose turn it is, with the draws to come made from the
// unit's seed; nil without a book.
func (b Book) start(g *env.Game, seats, unit int, seed uint64) ([]byte, error) {
	if len(b) == 0 {
		return nil, nil
	}
	s := g.New(seats)
	if err := env.Decode(s, g.New(seats), b[unit%len(b)]); err != nil {
		return nil, err
	}
	s.Hide(1<<uint(seats)-1, seed)
	return env.Encode(nil, s)
}
