package vec

import "blockyard/env"

// A Tracer is told every move of the episodes that it chooses, from Reset to the end. Its methods are
// called from several goroutines at once, but never twice at once for one environment.
type Tracer interface {
	// Begin is called when environment i starts an episode of the given number with Reset(seed): after
	// its agents have been prepared and before anybody moves. The other methods are called for that
	// episode only if Begin returns true.
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
// for episodes in progress. The former tracer is told nothing more.
func (e *Env) Trace(t Tracer) {
	e.tracer = t
	for i := range e.slots {
		e.slots[i].traced = false
	}
}

// ContinueTrace lets the tracer follow the episode in progress of environment i, after Resume, as if its Begin had
// chosen that episode.
func (e *Env) ContinueTrace(i int) {
	sl := &e.slots[i]
	sl.traced = e.tracer != nil && sl.live && !sl.ended()
}

// Traced reports whether the tracer follows the episode of environment i.
func (e *Env) Traced(i int) bool { return e.slots[i].traced }

// traceBegin offers environment i's new episode to the tracer.
func (e *Env) traceBegin(i int) {
	sl := &e.slots[i]
	e.traceDrop(i)
	sl.traced = e.tracer != nil && e.tracer.Begin(i, sl.episode, sl.gameSeed())
}

// traceEnd ends the trace of environment i's episode, if there is one.
func (e *Env) traceEnd(i int) {
	if sl := &e.slots[i]; sl.traced {
		sl.traced = false
		e.tracer.End(i, e.states[i])
	}
}

// traceDrop abandons the trace of environment i's episode, if there is one.
func (e *Env) traceDrop(i int) {
	if sl := &e.slots[i]; sl.traced {
		sl.traced = false
		e.tracer.Drop(i)
	}
}
