package record

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"blockyard/env"
)

// A Replay replays a recorded game, position by position:
//
//	rp := record.NewReplay(g, rec)
//	for s, moves := range rp.All() { … }
//	if err := rp.Err(); err != nil { … }
type Replay struct {
	Legal bool // the choices are known to be legal: they were made here, or checked before

	game  *env.Game
	state env.State
	from  *Reader // further parts of a long game; nil if there are none
	rest  Record  // what was read and is not yet played, and the end of the game as recorded
	drawn bool    // the game has draws

	ply, step int
	err       error
}

// NewReplay starts a replay of rec, which must be of game g and its version of the rules.
func NewReplay(g *env.Game, rec *Record) *Replay {
	rp := &Replay{game: g, rest: *rec, drawn: len(rec.Draws) > 0}
	rp.err = rp.begin(rec)
	return rp
}

// Replay starts a replay of the game whose first line ReadPart has just returned, and reads others when needed.
func (r *Reader) Replay(g *env.Game, head *Record) *Replay {
	rp := NewReplay(g, head)
	rp.from = r
	return rp
}

func (rp *Replay) begin(rec *Record) error {
	g := rp.game
	switch {
	case rec.Game != g.Name:
		return fmt.Errorf("the record is of game %s, want %s", rec.Game, g.Name)
	case !slices.Equal(rec.Table, g.Table):
		return fmt.Errorf("the record has another table than %s: one of the two was changed", g.Name)
	case rec.Rules != g.Rules:
		return fmt.Errorf("%s: played with version %d of the rules, want version %d", g.Name, rec.Rules, g.Rules)
	case rec.Seats < g.MinSeats || rec.Seats > g.MaxSeats:
		return fmt.Errorf("%s: %d seats, want %d to %d", g.Name, rec.Seats, g.MinSeats, g.MaxSeats)
	}
	rp.state = g.New(rec.Seats)
	if len(rec.Start) > 0 {
		if len(rp.rest.Draws) > 0 {
			rp.rest.Draws = rp.rest.Draws[1:]
		}
		if err := env.Decode(rp.state, g.New(rec.Seats), rec.Start); err != nil {
			return err
		}
		if t, ok := rp.state.(env.Tabled); ok && !t.SameTable(g.New(rec.Seats)) {
			return fmt.Errorf("%s: the first position has another table", g.Name)
		}
		return nil
	}
	return rp.forced(func() { rp.state.Reset(rec.Seed) })
}

// forced calls play, which resets or steps the game, with the next recorded draws.
func (rp *Replay) forced(play func()) error {
	if !rp.drawn || !rp.have(func() bool { return len(rp.rest.Draws) > 0 }) {
		play()
		return rp.err
	}
	draws := rp.rest.Draws[0]
	rp.rest.Draws = rp.rest.Draws[1:]
	if n := rp.state.Force(draws); n < len(draws) {
		return fmt.Errorf("%s: step %d: only %d of its %d draws can be forced", rp.game.Name, rp.step, n, len(draws))
	}
	play()
	if made := rp.state.Draws(nil); len(made) < len(draws) || !slices.Equal(made[:len(draws)], draws) {
		return fmt.Errorf("%s: step %d: the recorded draws are %v, the game drew %v", rp.game.Name, rp.step, draws, made)
	}
	return nil
}

// have reads further parts until ready returns true. It returns false if there are no more.
func (rp *Replay) have(ready func() bool) bool {
	for !ready() {
		if !rp.more() || rp.err != nil {
			return false
		}
		rest := &rp.rest // whose lists may be the caller's
		rest.Choices, rest.Draws, rest.Values = slices.Clip(rest.Choices), slices.Clip(rest.Draws), slices.Clip(rest.Values)
		if rp.err = rp.from.Extend(rest); rp.err != nil {
			if errors.Is(rp.err, io.EOF) {
				rp.err = ErrPartial
			}
			rp.from = nil
			return false
		}
	}
	return true
}

func (rp *Replay) more() bool { return rp.rest.More && rp.from != nil }

// All yields the State, which it steps, with the moves from each position; env.NoMoves from the last. A second loop
// goes on where the first stopped. All ends early after an error; see Err.
func (rp *Replay) All() iter.Seq2[env.State, env.Moves] {
	return func(yield func(env.State, env.Moves) bool) {
		for rp.err == nil {
			m, ok := rp.moves()
			if rp.err != nil {
				return
			}
			if !ok {
				yield(rp.state, env.NoMoves)
				return
			}
			if !yield(rp.state, m) {
				return
			}
			rp.play(m)
		}
	}
}

// moves returns the moves to play now; ok is false at the end of the game or of the record.
func (rp *Replay) moves() (env.Moves, bool) {
	m := env.NoMoves
	acting := rp.state.Acting()
	if acting == 0 {
		return m, false
	}
	n := acting.Len()
	if !rp.have(func() bool { return len(rp.rest.Choices) >= n }) {
		if rp.err == nil && len(rp.rest.Choices) > 0 {
			rp.err = fmt.Errorf("%s: ply %d: %d choices are left, want one for each of the %d acting seats",
				rp.game.Name, rp.ply, len(rp.rest.Choices), n)
		}
		return m, false
	}
	for i := 0; acting != 0; acting = acting.Rest() {
		m[acting.First()] = rp.rest.Choices[i]
		i++
	}
	return m, true
}

func (rp *Replay) play(m env.Moves) {
	n := rp.state.Acting().Len()
	rp.step++
	var illegal error
	err := rp.forced(func() {
		if rp.Legal {
			rp.state.Step(m)
		} else {
			illegal = env.Apply(rp.game, rp.state, m)
		}
	})
	if illegal != nil {
		err = illegal
	}
	if err != nil {
		rp.err = fmt.Errorf("ply %d: %w", rp.ply, err)
	}
	rp.rest.Choices, rp.ply = rp.rest.Choices[n:], rp.ply+n
	rp.rest.Values = rp.rest.Values[min(n, len(rp.rest.Values)):]
}

// Value is the recorded search value of the k-th acting seat's choice, if there is one.
func (rp *Replay) Value(k int) (v float32, ok bool) {
	if k >= len(rp.rest.Values) {
		return 0, false
	}
	return rp.rest.Values[k], true
}

// State returns the current position. The Replay owns it and changes it in its next step.
func (rp *Replay) State() env.State { return rp.state }

// Last reports whether no choices follow the current position.
func (rp *Replay) Last() bool {
	return len(rp.rest.Choices) == 0 && !rp.more() || rp.state.Acting() == 0
}

// Ply returns the number of choices before the current position.
func (rp *Replay) Ply() int { return rp.ply }

// Err returns the error that ended the replay early, or nil.
func (rp *Replay) Err() error { return rp.err }
