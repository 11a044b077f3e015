package vec

import (
	"errors"
	"fmt"
	"slices"

	"blockyard/env"
)

// MovesLen is the width of Batch.Moves: the number of moves that opponents made in a step, and the first MovesLen-1 of
// them in the order in which they were made; zeros follow. It has room for what three opponents have left to play in a
// game of Blocking after the driven seat is out: 21 pieces each.
const MovesLen = 64

// A Log records steps of one environment. After Resume with the snapshot from before them, in any process, Replay plays
// them again, mostly without asking the agents: so games survive the loss of a process.
type Log struct {
	Env     int
	Actions []env.Action // that were passed to Step: of the environment's rows, step after step
	// Moves is what Step wrote to Batch.Moves, step after step. It is empty if every seat is driven.
	Moves []uint16
}

// Steps returns the number of steps of l in an Env with so many rows.
func (l *Log) Steps(rows int) int { return len(l.Actions) / rows }

// ErrLog is wrapped by the errors about a Log that does not belong to its environment.
var ErrLog = errors.New("the log does not fit the environment")

// Replay plays logged steps, of every environment at most one Log, and writes to out what their last steps returned;
// it leaves the rows of other environments as they are. Afterwards everything is as if the steps had just been
// taken, including what agents remember. An agent is asked only if it has a memory (Resumable), or for the moves
// of a step that Batch.Moves had no room for; all other moves, and those of asked seats, are those of the Log.
//
// It returns an error that wraps ErrLog and changes nothing if a Log has a wrong length or names no environment, or
// one that another Log names, that was never reset or that waits for answers. If steps do not fit the environment, it
// returns such an error too, but environments are then half replayed, and only a Reset of all of them is possible.
func (e *Env) Replay(logs []Log, out *Batch) error {
	if e.broken != nil {
		return e.broken
	}
	if err := e.checkBatch(out); err != nil {
		return err
	}
	byEnv := make([]*Log, len(e.slots))
	for k := range logs {
		l := &logs[k]
		moves := l.Steps(e.rows) * MovesLen
		if e.others() == 0 {
			moves = 0
		}
		var what string
		switch {
		case l.Env < 0 || l.Env >= len(e.slots):
			what = fmt.Sprintf("there are %d environments", len(e.slots))
		case byEnv[l.Env] != nil:
			what = "it has two logs"
		case !e.slots[l.Env].live:
			what = "it has not been reset"
		case e.slots[l.Env].stage != stepped:
			what = "it waits for answers"
		case len(l.Actions)%e.rows != 0 || len(l.Moves) != moves:
			what = fmt.Sprintf("%d actions and %d moves, want %d actions and %d moves for each step",
				len(l.Actions), len(l.Moves), e.rows, min(moves, MovesLen))
		default:
			byEnv[l.Env] = l
			continue
		}
		return fmt.Errorf("vec %s: environment %d: %w: %s", e.g.Name, l.Env, ErrLog, what)
	}
	return e.pool.run(job{do: (*Env).replay, changes: true, logs: byEnv, out: out,
		actions: make([]env.Action, len(e.slots)*e.rows)})
}

// replay plays environment i's log.
func (e *Env) replay(w *worker, i int, j *job) error {
	l := j.logs[i]
	if l == nil {
		return nil
	}
	defer func() { w.log = nil }()
	quiet := job{actions: j.actions, out: &Batch{}}
	for k, steps := 0, l.Steps(e.rows); k < steps; k++ {
		if err := e.c.Context.Err(); err != nil {
			return err
		}
		actions := j.actions[i*e.rows : (i+1)*e.rows]
		copy(actions, l.Actions[k*e.rows:])
		e.slots[i].asked = 0 // the log has the answers
		var r refusals
		if e.refuse(i, actions, &r); r.err() != nil {
			return fmt.Errorf("%w: step %d: %v", ErrLog, k, r.err())
		}
		if l.Moves != nil {
			w.log = l.Moves[k*MovesLen : (k+1)*MovesLen]
		}
		to := &quiet
		if k == steps-1 {
			to = j
		}
		if err := e.step(w, i, to); err != nil {
			return fmt.Errorf("step %d of the log: %w", k, err)
		}
		if n := w.noted(); w.log != nil && !slices.Equal(w.moves[:n], w.log[:n]) {
			return fmt.Errorf("%w: step %d: agents made the moves %v", ErrLog, k, w.moves[:n])
		}
	}
	return nil
}

// loggedMove returns the next move of the step being replayed, and false if the agent of the seat must be asked.
func (e *Env) loggedMove(w *worker, i, seat int) (a env.Action, ok bool, err error) {
	if w.log == nil {
		return env.None, false, nil
	}
	n := w.moves[0]
	if n >= w.log[0] {
		return env.None, false, fmt.Errorf("%w: it has %d moves of agents, which make more", ErrLog, n)
	}
	if asked := e.slots[i].callers.Has(seat); asked || n+1 >= MovesLen {
		if asked && n+1 >= MovesLen {
			err = fmt.Errorf("%w: it lacks the answers of seat %d, which come after %d moves", ErrLog, seat, n)
		}
		return env.Action(w.log[min(n+1, MovesLen-1)]), asked, err
	}
	// Choices may be left out of an agent that keeps nothing from one to the next.
	memory, err := Memory(e.agents[i*e.c.Seats+seat])
	return env.Action(w.log[n+1]), err == nil && len(memory) == 0, nil
}

// note adds a move of an opponent to the moves of this step.
func (w *worker) note(a env.Action) {
	if w.moves[0]++; w.moves[0] < MovesLen {
		w.moves[w.moves[0]] = uint16(a)
	}
}

// noted returns how much of w.moves is set.
func (w *worker) noted() int { return min(int(w.moves[0])+1, MovesLen) }

// showMoves writes the moves of opponents in this step of environment i to moves, [N, MovesLen], unless it is nil.
func (e *Env) showMoves(w *worker, i int, moves []uint16) {
	if moves == nil {
		return
	}
	clear(w.moves[w.noted():])
	copy(moves[i*MovesLen:], w.moves[:])
}
