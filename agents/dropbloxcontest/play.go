package dropbloxcontest

import (
	"context"
	"time"

	"blockyard/agents/dropbloxcontest/history"
	"blockyard/agents/dropbloxcontest/programs"
)

// A Player plays a game with a program.
type Player struct {
	Program *programs.Program
	Table   Table
	History *history.Folder // nil keeps none
	Console *Console        // nil says nothing
	Margin  time.Duration   // taken off what the program is told
	Turns   int             // the game ends after so many; 0 is no limit
	Each    func(t Result)  // called after every turn; may be nil
}

// A Result is how far a game came.
type Result struct {
	Score   int
	Turns   int // the program was started for
	Reason  Reason
	Used    time.Duration // by the program, in all turns together
	Longest time.Duration // turn
}

// Play plays to the end of the game. The error is that of ctx, of a program that cannot be
// started, of the server or of the history's files; the result then is what was reached.
func (p *Player) Play(ctx context.Context) (Result, error) {
	r := Result{}
	if p.Console != nil && p.Program.Foreign == nil {
		p.Program.Foreign = p.Console.foreign
		defer func() { p.Program.Foreign = nil }()
	}
	err := p.play(ctx, &r)
	r.Score = p.Table.Score()
	switch {
	case err != nil && ctx.Err() != nil:
		r.Reason = Stopped
	case err != nil:
		r.Reason = Failed
	}
	if e := p.History.End(p.Table.Turns(), r.Score, string(r.Reason)); err == nil {
		err = e
	}
	return r, err
}

// play plays turn after turn, in the order of the rules §9: state file, program, move file,
// carrying out.
func (p *Player) play(ctx context.Context, r *Result) error {
	for turn := p.Table.Turns(); ; turn++ {
		reason, over := p.Table.Over()
		left := p.Table.Left() - p.Margin
		if !over && left <= 0 { // no program is started for nothing
			p.Table.Expire()
			reason, over = Time, true
		}
		if !over && p.Turns > 0 && r.Turns >= p.Turns {
			reason, over = Turns, true
		}
		state := p.Table.State()
		if err := p.History.State(turn, state); err != nil {
			return err
		}
		if over {
			r.Reason = reason
			return nil
		}
		t, err := p.Program.Turn(ctx, state, left)
		if err != nil {
			return err
		}
		r.Used += t.Elapsed
		r.Longest = max(r.Longest, t.Elapsed)
		if err := p.History.Move(turn, t.Commands); err != nil {
			return err
		}
		p.Console.received(t)
		if err := p.Table.Hand(ctx, t.Commands); err != nil {
			return err
		}
		r.Turns++
		r.Score = p.Table.Score()
		p.Console.made(p.Table)
		if p.Each != nil {
			p.Each(*r)
		}
	}
}
