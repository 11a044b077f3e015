package vec

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"blockyard/env"
)

// A slot is everything about an environment except its position.
type slot struct {
	root    uint64 // the seed
	episode uint64 // number of the episode, 0 after seeding
	word    uint64 // random generator of views for agents and of random choices
	steps   uint32 // taken in this episode
	length  uint32 // steps of the last episode that ended
	live    bool   // has been reset
	over    bool   // the game is over: terminated
	cut     bool   // the step limit ended the episode: truncated
	traced  bool   // the tracer follows the episode
	stage   stage  // what answers are waited for in
	acting  env.Seats
	callers env.Seats           // the seats for which the caller is asked in this episode
	asked   env.Seats           // of these, those that act now and have no answer
	masked  env.Seats           // of these, those whose mask is known
	seats   [env.MaxSeats]uint8 // the seat of each row, NoSeat for none
}

var emptyRows = [env.MaxSeats]uint8{NoSeat, NoSeat, NoSeat, NoSeat}

func (sl *slot) ended() bool { return sl.over || sl.cut }

// begin starts the slot's episode and plays up to the first choice of a driven seat, or until answers are waited for.
func (e *Env) begin(w *worker, i int) error {
	const tries = 100
	sl := &e.slots[i]
	for range tries {
		e.states[i].Reset(sl.gameSeed())
		sl.steps, sl.live, sl.over, sl.cut, sl.seats, sl.stage = 0, true, false, false, emptyRows, stepped
		if err := errors.Join(e.draw(i), e.renewAgents(i)); err != nil {
			return err
		}
		sl.callers = e.callers(i)
		e.traceDrop(i)
		sl.traced = e.tracer != nil && e.tracer.Begin(i, sl.episode, sl.gameSeed())
		if err := e.settle(w, i); err != nil {
			return err
		}
		if !sl.over {
			if e.waits(sl) {
				sl.stage = opened
			}
			e.assign(w, e.states[i], sl, i)
			return nil
		}
		e.traceDrop(i)
		sl.episode++
	}
	return fmt.Errorf("%d episodes in a row ended before a driven seat could act", tries)
}

// settle lets opponents play until a driven seat must act, the caller is asked or the game is over.
func (e *Env) settle(w *worker, i int) error {
	s, sl := e.states[i], &e.slots[i]
	for sl.acting = s.Acting(); sl.acting != 0 && sl.acting&e.driven == 0; sl.acting = s.Acting() {
		if sl.callers&sl.acting != 0 && w.log == nil {
			break
		}
		if err := e.play(w, s, i, sl.acting, env.NoMoves); err != nil {
			return err
		}
	}
	sl.asked, sl.masked = sl.acting&sl.callers, 0
	sl.over = sl.acting == 0
	return nil
}

// play plays a move, of the seats in others and of those whose moves are there already.
func (e *Env) play(w *worker, s env.State, i int, others env.Seats, moves env.Moves) (err error) {
	if others != 0 {
		if moves, err = e.askOthers(w, i, others, moves); err != nil {
			return err
		}
	}
	if sl := &e.slots[i]; sl.traced {
		e.tracer.Move(i, sl.acting, moves)
	}
	s.Step(moves)
	return nil
}

// step takes one step of environment i. Env.refuse has accepted its actions.
func (e *Env) step(w *worker, i int, j *job) error {
	s, sl, out := e.states[i], &e.slots[i], j.out
	switch {
	case sl.over || sl.cut:
		return e.restart(w, i, j)
	case sl.stage != stepped:
		return e.goOn(w, i, j)
	}
	w.moves[0] = 0
	moves := env.NoMoves
	for r, row := 0, i*e.rows; r < e.rows; r, row = r+1, row+1 {
		illegal := false
		if seat := sl.seats[r]; seat != NoSeat {
			a := j.actions[row]
			if illegal = a != env.None && !e.allows(row, a); illegal {
				w.illegal++
				if a = env.None; e.c.Illegal == Random {
					a = e.random(row, sl.next())
				}
			}
			moves[seat] = a
		}
		mark(out.Illegal, row, illegal)
	}
	if e.c.Reward != RewardResult && out.Reward != nil {
		e.measure(w, s, &w.before)
	}
	if others := sl.acting &^ e.driven; others != 0 || sl.traced {
		if err := e.play(w, s, i, others, moves); err != nil {
			return err
		}
	} else {
		s.Step(moves) // saves a call
	}
	if sl.acting = s.Acting(); sl.acting&e.driven == 0 || sl.callers != 0 {
		if err := e.settle(w, i); err != nil {
			return err
		}
		if e.waits(sl) {
			sl.stage = moved
			e.held[i].before, e.held[i].rows = w.before, sl.seats
			return e.pause(w, i, j)
		}
	}
	return e.finish(w, i, j, &w.before)
}

// restart is the step that begins the next episode of environment i and does nothing else.
func (e *Env) restart(w *worker, i int, j *job) error {
	sl := &e.slots[i]
	w.moves[0] = 0
	sl.episode++
	if err := e.begin(w, i); err != nil {
		return err
	}
	if sl.stage == opened {
		sl.stage = restarted
	}
	err := e.observe(w, i, j)
	e.showMoves(w, i, j.out.Moves)
	return err
}

// finish ends a step of environment i, which began with these measures.
func (e *Env) finish(w *worker, i int, j *job, before *measures) error {
	s, sl, out := e.states[i], &e.slots[i], j.out
	sl.stage = stepped
	sl.steps++
	sl.cut = !sl.over && e.c.StepLimit > 0 && int(sl.steps) >= e.c.StepLimit
	e.assign(w, s, sl, i)
	e.account(w, s, sl, i, out, before)
	if sl.over || sl.cut {
		sl.length = sl.steps
		if sl.traced {
			sl.traced = false
			e.tracer.End(i, s)
		}
		e.tally(i)
		if e.c.Autoreset == SameStep {
			e.show(w, s, sl, i, &j.final)
			e.showOpponents(i, out.FinalOpponent)
			sl.episode++
			if err := e.begin(w, i); err != nil {
				return err
			}
			if sl.stage == opened {
				sl.stage = reopened
			}
		}
	}
	e.show(w, s, sl, i, &j.rows)
	e.showOpponents(i, out.Opponent)
	e.showMoves(w, i, out.Moves)
	return nil
}

// pause writes what environment i shows while answers are waited for in its step, or once they are there.
func (e *Env) pause(w *worker, i int, j *job) error {
	sl, out := &e.slots[i], j.out
	if sl.stage == moved {
		e.assign(w, e.states[i], sl, i)
		mark(out.Terminated, i, false)
		mark(out.Truncated, i, false)
	}
	e.show(w, e.states[i], sl, i, &j.rows)
	e.showOpponents(i, out.Opponent)
	e.showMoves(w, i, out.Moves)
	return nil
}

// Renew prepares *agent, nil at first, for a new episode. An agent with a method NewGame(seed uint64)
// is kept; any other is closed, if it is an io.Closer, and replaced by one from the factory.
func Renew(agent *env.Agent, factory AgentFactory, seed uint64) error {
	if a, ok := (*agent).(interface{ NewGame(seed uint64) }); ok {
		a.NewGame(seed)
		return nil
	}
	err := closeAgent(agent)
	if err == nil {
		*agent, err = factory(seed)
	}
	return err
}

// CloseAgents closes the agents that are io.Closers and replaces all of them by nil.
func CloseAgents(agents []env.Agent) error {
	var errs []error
	for k := range agents {
		errs = append(errs, closeAgent(&agents[k]))
	}
	return errors.Join(errs...)
}

func closeAgent(agent *env.Agent) error {
	c, ok := (*agent).(io.Closer)
	*agent = nil
	if !ok {
		return nil
	}
	return c.Close()
}

// renewAgents prepares the agents of environment i: those drawn for it, or, if none have been, new ones.
func (e *Env) renewAgents(i int) error {
	for set := e.others(); set != 0; set = set.Rest() {
		seat := set.First()
		k := i*e.c.Seats + seat
		if e.playing[k] == nil {
			e.playing[k] = e.drawn(i, seat)
		}
		if e.playing[k].Agent == nil {
			continue
		}
		if err := Renew(&e.agents[k], e.playing[k].Agent, e.slots[i].seatSeed(agentStreams, seat)); err != nil {
			return fmt.Errorf("seat %d: %w", seat, err)
		}
	}
	return nil
}

// askOthers adds the actions of the opponents in the seats in set to moves: those of agents, and the answers of the
// caller. While a Log is replayed, they are its own.
func (e *Env) askOthers(w *worker, i int, set env.Seats, moves env.Moves) (env.Moves, error) {
	s, sl := e.states[i], &e.slots[i]
	for ; set != 0; set = set.Rest() {
		seat := set.First()
		draws := sl.next()
		if sl.callers.Has(seat) && w.log == nil {
			moves[seat] = e.held[i].answers[seat] // it is legal
			w.note(moves[seat])
			continue
		}
		a, logged, err := e.loggedMove(w, i, seat)
		if !logged && err == nil {
			env.View(w.view, s, seat, draws)
			a, err = e.agents[i*e.c.Seats+seat].Act(e.c.Context, w.view, seat)
			w.asked++
			if err == nil {
				err = e.c.Context.Err() // an action found after the end is not the agent's best
			}
		}
		if err != nil {
			return moves, fmt.Errorf("seat %d: %w", seat, err)
		}
		w.legal = s.Legal(seat, w.legal[:0])
		if _, ok := slices.BinarySearch(w.legal, a); !ok && a != env.None {
			return moves, fmt.Errorf("seat %d: its agent answers %w: %d", seat, env.ErrIllegal, a)
		}
		moves[seat] = a
		w.note(a)
	}
	return moves, nil
}

// A Tracer gets every move of the episodes that it chooses, from Reset to the end. Its methods are
// called from several goroutines at once, but never twice at once for one environment.
type Tracer interface {
	// Begin is called when environment i starts an episode of the given number with Reset(seed): after its agents have
	// been prepared and before anybody moves. The other methods are called for that episode only if Begin returns true.
	Begin(i int, episode, seed uint64) bool
	// Move is called before every Step of the game, with the moves of all acting seats.
	Move(i int, acting env.Seats, moves env.Moves)
	// End is called when the episode is over or truncated, with its last position.
	End(i int, last env.State)
	// Drop is called instead of End when the episode is abandoned: by Reset, because its position is
	// replaced (Restore, Resume, Clone, Reseed), or because it ended before a driven seat could act.
	Drop(i int)
}

// Trace sets the tracer, nil for none, from the next episode of each environment on: Begin is not called
// for episodes in progress. The former tracer is not called again.
func (e *Env) Trace(t Tracer) {
	e.tracer = t
	for i := range e.slots {
		e.slots[i].traced = false
	}
}

// ContinueTrace lets the tracer follow environment i's episode after Resume, as its Begin would; it says if it does.
func (e *Env) ContinueTrace(i int) bool {
	sl := &e.slots[i]
	sl.traced = e.tracer != nil && sl.live && !sl.ended()
	return sl.traced
}

// traceDrop abandons the trace of environment i's episode, if there is one.
func (e *Env) traceDrop(i int) {
	if sl := &e.slots[i]; sl.traced {
		sl.traced = false
		e.tracer.Drop(i)
	}
}
