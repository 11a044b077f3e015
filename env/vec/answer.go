package vec

import (
	"slices"

	"blockyard/env"
)

// A stage says what answers are waited for in.
type stage uint8

const (
	stepped   stage = iota // nothing: the last step, or the reset, is complete
	moved                  // a step: driven seats have moved
	opened                 // an episode that Reset began
	restarted              // an episode that a step began which did nothing else
	reopened               // an episode that the step began which ended the last one
	placed                 // a position that was put there by Restore, Resume, Clone or Reseed
)

// held is what an environment keeps while it is answered.
type held struct {
	answers env.Moves           // so far
	before  measures            // before the step in which answers are waited for
	rows    [env.MaxSeats]uint8 // the seats of the rows that moved in it
}

// An Answer is the action of an asked seat.
type Answer struct {
	Env, Seat int
	Action    env.Action
}

// Asked returns the seats of environment i that act now and whose actions the caller has to Answer before the next
// Step: those whose Choice has no agent. What they see is in State(i).
func (e *Env) Asked(i int) env.Seats {
	if sl := &e.slots[i]; !sl.ended() {
		return sl.asked
	}
	return 0
}

// Waits reports whether environment i waits for answers although none of its driven seats acts. A step of other
// environments is not possible then: the next Step goes on where answers are waited for, and nowhere else.
func (e *Env) Waits(i int) bool { return e.slots[i].stage != stepped }

// Answer takes the actions of asked seats, which the next Step plays. It returns an error and takes none if a seat is
// not asked or answered twice, and an *EnvError if an action is neither legal nor None; its Row is then the index of
// the answer.
func (e *Env) Answer(answers []Answer) (err error) {
	if e.broken != nil {
		return e.broken
	}
	taken := 0
	defer func() {
		for _, a := range answers[:taken] {
			if err != nil {
				e.slots[a.Env].asked |= 1 << a.Seat
			}
		}
	}()
	var bad *EnvError
	for k, a := range answers {
		switch {
		case a.Env < 0 || a.Env >= len(e.slots):
			return e.misuse("environment %d of %d", a.Env, len(e.slots))
		case a.Seat < 0 || a.Seat >= e.c.Seats || !e.Asked(a.Env).Has(a.Seat):
			what := "not asked"
			if slices.ContainsFunc(answers[:k], func(b Answer) bool { return b.Env == a.Env && b.Seat == a.Seat }) {
				what = "answered twice"
			}
			return e.misuse("seat %d of environment %d is %s", a.Seat, a.Env, what)
		}
		taken++
		e.slots[a.Env].asked &^= 1 << a.Seat
		e.held[a.Env].answers[a.Seat] = a.Action
		if a.Action == env.None || int(a.Action) < e.g.Actions && has(e.AskedMask(0, a.Env, a.Seat), a.Action) {
			continue
		}
		if bad == nil {
			bad = e.illegal(a.Env, k, a.Seat, a.Action, "asked seat")
		}
		bad.blame(a.Env)
	}
	if bad != nil {
		return bad
	}
	return nil
}

// mayAsk prepares to ask the caller, if that is so.
func (e *Env) mayAsk(asks bool) {
	if asks && !e.asks {
		e.asks, e.held, e.askedMasks = true, make([]held, e.c.Envs), make([]byte, len(e.playing)*e.stride)
	}
}

// callers returns the seats of environment i for which the caller is asked in this episode.
func (e *Env) callers(i int) (set env.Seats) {
	if !e.asks {
		return 0
	}
	for seat, c := range e.choices(i) {
		if c != nil && c.Agent == nil {
			set |= 1 << seat
		}
	}
	return set
}

// waits reports whether only answers of the caller can go on with the slot's environment, which settle has left.
func (e *Env) waits(sl *slot) bool { return sl.asked != 0 && sl.acting&e.driven == 0 }

// waiting reports whether some environment waits.
func (e *Env) waiting() bool {
	return e.asks && slices.ContainsFunc(e.slots, func(sl slot) bool { return sl.stage != stepped })
}

// goOn plays the answers in environment i, if it waits, and what follows them.
func (e *Env) goOn(w *worker, i int, j *job) error {
	s, sl, out := e.states[i], &e.slots[i], j.out
	if sl.stage == stepped {
		return nil
	}
	w.moves[0] = 0
	copy(w.moves[:], part(out.Moves, i, MovesLen))
	if err := e.play(w, s, i, sl.acting, env.NoMoves); err != nil {
		return err
	}
	if err := e.settle(w, i); err != nil {
		return err
	}
	if e.waits(sl) {
		return e.pause(w, i, j)
	}
	was := sl.stage
	switch sl.stage = stepped; {
	case was == moved:
		sl.seats = e.held[i].rows // which they keep if the game is over
		return e.finish(w, i, j, &e.held[i].before)
	case was != placed && sl.over: // no driven seat could act
		sl.episode++
		if err := e.begin(w, i); err != nil {
			return err
		}
		if sl.stage == opened {
			sl.stage = was
		}
	default:
		e.assign(w, s, sl, i)
	}
	if was == reopened {
		return e.pause(w, i, j)
	}
	err := e.observe(w, i, j)
	if was == restarted {
		e.showMoves(w, i, out.Moves)
	}
	return err
}
