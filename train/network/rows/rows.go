// Package rows holds training rows, features of an afterstate and a target, and makes some of recorded games (Set).
package rows

import (
	"fmt"
	"math"
	"math/rand/v2"

	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/train/games"
)

// Rows are training rows of one game: X [len(Y)][features], row by row, and the targets Y.
type Rows struct {
	Game   *games.Game
	X, Y   []float32
	order  []int
	bx, by []float32 // one batch
}

// Len returns how many training examples there are: the length of Y.
func (s *Rows) Len() int { return len(s.Y) }

// Row returns the features of row i, in memory of the Rows.
func (s *Rows) Row(i int) []float32 {
	n := len(s.Game.Features)
	return s.X[i*n : (i+1)*n]
}

// Cut keeps the first n rows and drops the others.
func (s *Rows) Cut(n int) { s.X, s.Y = s.X[:n*len(s.Game.Features)], s.Y[:n] }

// Pass fits all rows once, in random order and half of them mirrored if the game can be, and returns the mean loss.
func (s *Rows) Pass(
	fit func(x, y []float32, rate float64) (float64, error), r *rand.Rand, batch int, rate float64,
) (float64, error) {
	s.order = s.order[:0]
	for i := range s.Y {
		s.order = append(s.order, i)
	}
	r.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
	sum := 0.0
	for at := 0; at < len(s.order); at += batch {
		rows := s.order[at:min(at+batch, len(s.order))]
		s.bx, s.by = s.bx[:0], s.by[:0]
		for _, i := range rows {
			x := s.Row(i)
			s.bx, s.by = append(s.bx, x...), append(s.by, s.Y[i])
			if s.Game.Mirror != nil && r.Uint32()&1 != 0 {
				s.Game.Mirror(s.bx[len(s.bx)-len(x):])
			}
		}
		// A last short batch takes a step of its own size, not a full one.
		loss, err := fit(s.bx, s.by, rate*float64(len(rows))/float64(batch))
		if err != nil {
			return 0, err
		}
		sum += loss * float64(len(rows))
	}
	return sum / float64(max(1, len(s.Y))), nil
}

// Loss returns the mean logistic loss of a network on the rows, 0 if there are none.
func (s *Rows) Loss(net *mlp.Net) float64 {
	out := make([]float32, len(s.Y))
	net.Forward(s.X, len(s.Y), out)
	sum := 0.0
	for i, z := range out {
		sum += math.Log1p(math.Exp(-math.Abs(float64(z)))) + math.Max(float64(z), 0) - float64(s.Y[i])*float64(z)
	}
	return sum / float64(max(1, len(s.Y)))
}

// A Set makes rows of recorded games.
type Set struct {
	Rows
	most   int
	reader features.Reader
	after  env.State
}

// New returns a set for so many rows, at most, with the memory that they take.
func New(g *games.Game, most int) *Set {
	x, y := make([]float32, 0, most*len(g.Features)), make([]float32, 0, most)
	return &Set{Rows: Rows{Game: g, X: x, Y: y}, most: most, reader: g.Reader(), after: g.Rules.New(g.Rules.MinSeats)}
}

// Bytes is what a row of a game takes.
func Bytes(g *games.Game) int { return 4 * (len(g.Features) + 1) }

// Add appends the rows of one game: none if it was stopped early, and none after an error, also that of too many.
func (s *Set) Add(rec *record.Record) error {
	if rec.Stopped {
		return nil
	}
	rows := s.Len()
	rp := record.NewReplay(s.Game.Rules, rec)
	for state, m := range rp.All() {
		if s.Len()+state.Acting().Len() > s.most {
			s.Cut(rows)
			return fmt.Errorf("more than %d rows", s.most)
		}
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
