package vec

import (
	"errors"
	"fmt"
	"math/bits"

	"blockyard/env"
)

// State returns the position of environment i: to be read, not changed, and valid until
// the next Step or Reset.
func (e *Env) State(i int) env.State { return e.states[i] }

// Seed returns the seed of environment i and which of its episodes is in progress.
func (e *Env) Seed(i int) (seed, episode uint64) { return e.slots[i].root, e.slots[i].episode }

// Seat returns whose view row r of environment i is, NoSeat if nobody's.
func (e *Env) Seat(i, r int) int { return int(e.slots[i].seats[r]) }

// Ended reports whether environment i's episode has ended and awaits its reset.
func (e *Env) Ended(i int) bool { return e.slots[i].ended() }

// Steps returns how many steps environment i's episode has taken.
func (e *Env) Steps(i int) int { return int(e.slots[i].steps) }

// LastLength returns how many steps the last episode took that ended in environment i.
func (e *Env) LastLength(i int) int { return int(e.slots[i].length) }

// Legal appends what row r of environment i may play, ascending.
func (e *Env) Legal(i, r int, dst []env.Action) []env.Action {
	for k, b := range e.mask(i*e.rows + r) {
		for ; b != 0; b &= b - 1 {
			dst = append(dst, env.Action(k*8+bits.TrailingZeros8(b)))
		}
	}
	return dst
}

// Sample fills actions, one per row, with legal ones drawn uniformly from the
// environments' generators; None where a row has nothing to choose.
func (e *Env) Sample(actions []env.Action) error {
	if e.broken != nil {
		return e.broken
	}
	if len(actions) != len(e.slots)*e.rows {
		return fmt.Errorf("vec %s: %d actions, want %d", e.g.Name, len(actions), len(e.slots)*e.rows)
	}
	return e.crew.run(job{op: opSample, actions: actions})
}

func (e *Env) sample(i int, actions []env.Action) {
	sl := &e.slots[i]
	for r := range e.rows {
		actions[i*e.rows+r] = env.None
		if sl.seats[r] != NoSeat && !sl.over {
			actions[i*e.rows+r] = e.random(i*e.rows+r, sl.next())
		}
	}
}

// SetState makes s the position of environment i, in the course of its present episode,
// with new agents. Agents play on until a driven seat must act.
func (e *Env) SetState(i int, s env.State) error {
	if err := e.usable(i); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return fmt.Errorf("vec %s: environment %d: %w", e.g.Name, i, err)
	}
	e.states[i].CopyFrom(s)
	sl := &e.slots[i]
	sl.live, sl.cut, sl.seats = true, false, emptyRows
	return e.resume(i)
}

// Clone makes environment dst a copy of src: position, seed, generator and all, but with
// agents of its own. Without a Reseed both go on alike.
func (e *Env) Clone(dst, src int) error {
	if err := errors.Join(e.usable(src), e.usable(dst)); err != nil {
		return err
	}
	if dst == src {
		return nil
	}
	e.states[dst].CopyFrom(e.states[src])
	e.slots[dst] = e.slots[src]
	return e.resume(dst)
}

// Reseed gives environment i another future: everything that none of the driven seats may
// know is redrawn from seed, and so are later episodes and random choices. What the driven
// seats observe does not change.
func (e *Env) Reseed(i int, seed uint64) error {
	if err := e.usable(i); err != nil {
		return err
	}
	e.states[i].Hide(e.driven, env.Derive(seed, uint64(e.c.Seats-1)))
	sl := &e.slots[i]
	sl.root, sl.word = seed, env.Derive(seed, ownStream)
	return e.resume(i)
}

func (e *Env) usable(i int) error {
	if e.broken != nil {
		return e.broken
	}
	if i < 0 || i >= len(e.slots) {
		return fmt.Errorf("vec %s: environment %d of %d", e.g.Name, i, len(e.slots))
	}
	return nil
}

// resume goes on in environment i from a position put there, with agents made anew.
func (e *Env) resume(i int) error {
	w := e.crew.workers[0]
	err := e.renewAgents(i)
	if err == nil {
		err = e.settle(w, i)
	}
	if err != nil {
		e.broken = fmt.Errorf("vec %s: environment %d: %w; reset all environments to go on", e.g.Name, i, err)
		return e.broken
	}
	e.look(w, i)
	return nil
}
