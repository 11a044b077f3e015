package rows

import (
	"fmt"

	"blockyard/agents/features"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/train/task"
)

// A Set is the rows of recorded games.
type Set struct {
	Rows
	reader features.Reader
	after  env.State
}

// New returns an empty set for a game.
func New(g *task.Game) *Set {
	return &Set{Rows: Rows{Game: g}, reader: g.Reader(), after: g.Rules.New(g.Rules.MinSeats)}
}

// Add appends the rows of one game. A game that was broken off gives none; a record that
// does not replay is an error, and none of its rows stay.
func (s *Set) Add(rec *record.Record) error {
	if rec.Stopped {
		return nil
	}
	rows := s.Len()
	rp := record.NewReplay(s.Game.Rules, rec)
	for state, m := range rp.All() {
		for set := state.Acting(); set != 0; set = set.Rest() {
			seat := set.First()
			if m[seat] != env.None {
				s.add(state, seat, m[seat], rec.Results[seat])
			}
		}
	}
	if err := rp.Err(); err != nil {
		s.Cut(rows)
		return fmt.Errorf("game of seed %d: %w", rec.Seed, err)
	}
	return nil
}

// add appends the afterstate of seat's choice a, unless that ends the game.
func (s *Set) add(state env.State, seat int, a env.Action, result float32) {
	s.after.CopyFrom(state)
	env.After(s.after, seat, a)
	if s.after.Acting() == 0 {
		return
	}
	n, own := len(s.Game.Features), s.Game.Own
	s.X = append(s.X, make([]float32, n)...)
	row := s.X[len(s.X)-n:]
	s.reader.Shared(s.after, seat, row[own:])
	s.reader.Own(s.after, seat, row[:own])
	s.Y = append(s.Y, (1+result)/2)
}
