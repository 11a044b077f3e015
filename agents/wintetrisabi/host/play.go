package host

import (
	"context"
	"errors"

	"blockyard/agents/contest"
	"blockyard/env/wintetris"
)

// A Player plays games with a library, starting a new process after a Fault. Close it after
// use. It is not safe for concurrent use.
type Player struct {
	Config  Config
	Options string
	Strict  bool // a conflict loses the game
	Cap     int  // a game stops after this many lines; 0 for no limit
	process *Process
}

// A Result is the result of a game, which a Fault may have ended early.
type Result struct {
	Seed      uint64 `json:"seed"`
	Lines     int    `json:"lines"`
	Level     int    `json:"level"`
	Pieces    int    `json:"pieces"`
	Ticks     uint64 `json:"ticks"`
	Score     int64  `json:"score"`
	Conflicts int    `json:"conflicts"`
	Blocked   int    `json:"blocked"`
	Late      int    `json:"late"`            // ticks without an answer in time
	Failures  int    `json:"failures"`        // negative answers
	Failure   string `json:"failure"`         // the first of them
	End       string `json:"end"`             // block out, lock out, conflict, capped, fault, stopped
	Fault     string `json:"fault,omitempty"` // why the library's process ended
}

// Play plays one game. The error is that of ctx, with the result so far, or says why no game
// could begin: the library does not load or refuses the options.
func (p *Player) Play(ctx context.Context, seed uint64) (Result, error) {
	if err := p.open(ctx); err != nil {
		return Result{Seed: seed}, err
	}
	e := wintetris.Engine{Strict: p.Strict}
	e.Start(seed)
	r := Result{Seed: seed}
	var stop error
	for e.Over == wintetris.Running && stop == nil && (p.Cap == 0 || int(e.Lines) < p.Cap) {
		var bits wintetris.Bits
		if bits, stop = p.ask(ctx, &e, &r); stop == nil {
			e.Tick(bits)
		}
	}
	r.Lines, r.Level, r.Pieces, r.Ticks = int(e.Lines), e.Level(), int(e.Pieces), e.Ticks
	r.Score, r.Conflicts, r.Blocked = e.Points, int(e.Conflicts), int(e.Blocked)
	r.End = e.Over.String()
	var fault *Fault
	switch {
	case errors.As(stop, &fault):
		r.End, r.Fault = "fault", fault.Why
		return r, nil
	case stop != nil:
		r.End = "stopped"
	case e.Over == wintetris.Running:
		r.End = "capped"
	}
	return r, stop
}

// ask returns a tick's bits and counts ticks without an answer.
func (p *Player) ask(ctx context.Context, e *wintetris.Engine, r *Result) (wintetris.Bits, error) {
	bits, err := p.process.Update(ctx, &e.Field, e.Piece, e.Upcoming(), e.New)
	var answer *Answer
	switch {
	case err == nil:
		return bits, nil
	case errors.Is(err, contest.ErrLate):
		r.Late++
		return 0, nil
	case errors.As(err, &answer):
		r.Failures++
		if r.Failure == "" {
			r.Failure = answer.Error()
		}
		return 0, nil
	}
	return 0, err
}

// open opens a solver, in a new process if there is none that works.
func (p *Player) open(ctx context.Context) (err error) {
	if p.process != nil && p.process.dead == nil {
		err = p.process.Open(ctx, p.Options)
		if err == nil || p.process.dead == nil {
			return err
		}
	}
	if p.process, err = Start(ctx, p.Config); err != nil {
		p.process = nil
		return err
	}
	return p.process.Open(ctx, p.Options)
}

// Close ends the process.
func (p *Player) Close() error {
	if p.process == nil {
		return nil
	}
	return p.process.Close()
}
