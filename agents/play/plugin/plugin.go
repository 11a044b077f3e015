// Package plugin plays WinTetris with a solver in a shared library, which a process of its own loads.
package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/contest/library"
	"blockyard/agents/match"
	"blockyard/agents/play/human"
	"blockyard/datasets/program"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// Flags are those of "agents play" for a solver in a library.
type Flags struct {
	Plugin   string        `xor:"p,p1,p2,p4" placeholder:"FILE" help:"WinTetris: solver in this library, or NAME=FILE."`
	Options  string        `needs:"plugin" placeholder:"TEXT" help:"options to open the solver with."`
	Games    int           `needs:"plugin" default:"1" placeholder:"N" help:"games, with seeds from --seed on."`
	Strict   bool          `needs:"plugin" xor:"p3" help:"an answer with conflicting bits loses the game."`
	CapLines int           `needs:"plugin" placeholder:"N" help:"stop a game after this many lines."`
	LimitMS  int           `name:"limit-ms" needs:"plugin" default:"1000" placeholder:"MS" help:"limit of an answer."`
	Patience time.Duration `needs:"plugin" default:"10s" placeholder:"TIME" help:"time limit of a call."`
	JSON     bool          `name:"json" needs:"plugin" help:"print one line of JSON; agents/JSON.md describes it."`
	Quiet    bool          `short:"q" needs:"plugin" help:"nothing on standard error."`
}

// A Match is the games that the flags of "agents play" ask for.
type Match struct {
	Flags
	Game   string
	Seed   uint64   // of the first game
	Show   bool     // shows every position
	Speed  *float64 // of the clock; nil for that of the rules if the game is shown, and none otherwise
	Record string   // file that gets the game; "" for none

	who     string           // has the seat, as records say it; Plugin is then the file alone
	process *library.Process // nil before the first game
}

// Play plays the games and prints what they came to. A fault is an error.
func (c *Match) Play(ctx context.Context, con *program.Console) error {
	if err := c.check(); err != nil {
		return program.Usage(err)
	}
	bar := con.Progress(c.Quiet || c.JSON || c.Games == 1, c.Games, "games")
	report, err := c.playAll(ctx, con, bar.Set)
	bar.Close()
	if c.process != nil {
		_ = c.process.Close()
	}
	if err == nil {
		err = con.Print(c.JSON, report)
	}
	if err == nil {
		err = report.Fault()
	}
	return err
}

func (c *Match) check() error {
	if c.who, c.Plugin = bots.Alias(c.Plugin); c.who == c.Plugin {
		c.who = "plugin:" + c.Plugin
	}
	switch {
	case c.Game != wintetris.Game.Name && c.Game != wintetris.TickGame.Name:
		return fmt.Errorf("--plugin is for %s, not %s", wintetris.Game.Name, c.Game)
	case c.Games > 1 && (c.Show || c.Record != "" || c.Speed != nil):
		return errors.New("--show, --record and --speed are for one game: leave out --games")
	case c.Speed != nil && !(*c.Speed >= 0 && *c.Speed <= 1000):
		return fmt.Errorf("--speed %g: want 0 to 1000", *c.Speed)
	case c.Games < 1 || c.CapLines < 0 || c.LimitMS < 0 || c.Patience < 0:
		return errors.New("--games is at least 1; --cap-lines, --limit-ms and --patience are not negative")
	}
	return nil
}

// playAll plays the games and calls done after each. If ctx ends, it returns the games so far without an error. The
// error says why the first game could not begin; if a later one cannot, that is its fault.
func (c *Match) playAll(ctx context.Context, con *program.Console, done func(games int)) (*Report, error) {
	out := &Report{Plugin: c.Plugin, Options: c.Options, Strict: c.Strict}
	for i := range c.Games {
		r, err := c.play(ctx, con, c.Seed+uint64(i))
		switch err = match.IgnoreStop(ctx, err); {
		case err != nil && i == 0:
			return nil, fmt.Errorf("%s: %w", c.Plugin, err)
		case err != nil:
			r.End, r.Fault = "fault", err.Error()
		}
		if out.Stopped = ctx.Err() != nil; out.Stopped {
			break
		}
		out.Games = append(out.Games, r)
		done(i + 1)
	}
	for _, r := range out.Games {
		out.Lines += float64(r.Lines) / float64(len(out.Games))
		if r.Fault != "" {
			out.Faults++
		}
	}
	return out, nil
}

// play plays a game of one seat, which the library has. The error is that of ctx, with the result so far, or says why
// the game could not begin, be shown or be recorded.
func (c *Match) play(ctx context.Context, con *program.Console, seed uint64) (Result, error) {
	s := &seat{Result: Result{Seed: seed}}
	if err := c.open(ctx, con); err != nil {
		return s.Result, err
	}
	s.process = c.process
	rules := *wintetris.TickGame
	rules.New = func(seats int) env.State {
		at := wintetris.TickGame.New(seats)
		at.(*wintetris.State).Strict = c.Strict
		return at
	}
	rec, err := match.Play(ctx, match.Game{
		Rules: &rules, Seed: seed, Names: []string{c.who}, Agents: []env.Agent{s}, Watch: c.watch(ctx, con, s),
		Enough: func(at env.State) bool { return c.CapLines > 0 && at.Score(0) >= c.CapLines }, Brief: c.Record == "",
	})
	s.finish()
	var fault *library.Fault
	switch {
	case errors.As(err, &fault):
		s.End, s.Fault, err = "fault", fault.Why, nil
	case err != nil:
		s.End = "stopped"
	case s.at.Over == wintetris.Running:
		s.End = "capped"
	}
	return s.Result, cmp.Or(match.IgnoreStop(ctx, err), record.AppendTo(c.Record, rec))
}

// open opens a solver, in a new process if there is none that works.
func (c *Match) open(ctx context.Context, con *program.Console) (err error) {
	if c.process != nil {
		if err = c.process.Open(ctx, c.Options); !errors.As(err, new(*library.Fault)) {
			return err
		}
	}
	config := library.Config{File: c.Plugin, Limit: time.Duration(c.LimitMS) * time.Millisecond, Patience: c.Patience}
	if !c.Quiet && !c.JSON {
		config.Output = con.Err
	}
	if c.process, err = library.Start(ctx, config); err != nil {
		return err
	}
	return c.process.Open(ctx, c.Options)
}

// watch returns what shows each position and the answer to it, and waits for the end of the tick, as the flags ask for.
func (c *Match) watch(ctx context.Context, con *program.Console, s *seat) func(env.State, env.Moves) error {
	speed := 0. // of the clock: by default that of the rules where the game is shown, and none elsewhere
	if c.Show || c.Speed != nil {
		speed = *cmp.Or(c.Speed, new(1.))
	}
	terminal := program.Terminal(con.Out)
	var f env.Frame
	return func(state env.State, m env.Moves) error {
		at := state.(*wintetris.State)
		if s.at = at.Engine; at.Over != wintetris.Running || m == env.NoMoves {
			return nil
		}
		if c.Show {
			f.Reset()
			at.Show(&f)
			f.Note(fmt.Sprintf("tick %d: %s, after %.2f ms of %.0f", at.Ticks+1, wintetris.TickGame.Text(m[0]),
				1000*s.took.Seconds(), wintetris.TickMS(at.Level())))
			f.Note("") // an empty line
			if err := human.Show(con.Out, &f, terminal, terminal); err != nil {
				return err
			}
		}
		if speed == 0 {
			return nil
		}
		return program.Sleep(ctx, human.TickTime(at.Level(), speed)-time.Since(s.asked))
	}
}
