// Package plugin plays WinTetris with a solver in a shared library, which a process of its own loads.
package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/contest/library"
	"blockyard/agents/play/human"
	"blockyard/datasets/program"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// Flags are those of "agents play" for a solver in a library.
type Flags struct {
	Plugin   string         `xor:"p,p1,p2,p4" placeholder:"FILE" help:"WinTetris: solver in this library, or NAME=FILE."`
	Options  string         `needs:"plugin" placeholder:"TEXT" help:"options to open the solver with."`
	Games    int            `needs:"plugin" placeholder:"N" help:"games, with seeds from --seed on. Default: 1."`
	Strict   bool           `needs:"plugin" xor:"p3" help:"an answer with conflicting bits loses the game."`
	CapLines int            `needs:"plugin" placeholder:"N" help:"stop a game after this many lines."`
	LimitMS  *int           `name:"limit-ms" needs:"plugin" placeholder:"MS" help:"limit of an answer. Default: 1000."`
	Patience *time.Duration `needs:"plugin" placeholder:"TIME" help:"time limit of a call. Default: 10s."`
	JSON     bool           `name:"json" needs:"plugin" help:"print one line of JSON; agents/JSON.md describes it."`
	Quiet    bool           `short:"q" needs:"plugin" help:"nothing on standard error."`
}

// A Match is the games that the flags of "agents play" ask for.
type Match struct {
	Flags
	Game   string
	Seed   uint64   // of the first game
	Show   bool     // shows every position
	Speed  *float64 // of the clock; nil for that of the rules if the game is shown, and none otherwise
	Record string   // file that gets the game; "" for none
}

// Play plays the games and prints what they came to. A fault is an error.
func (c *Match) Play(ctx context.Context, con *program.Console) error {
	p, err := c.player(con)
	if err != nil {
		return program.Usage(err)
	}
	defer p.Close()
	kept := func() error { return nil }
	if c.Show || c.Record != "" || c.Speed != nil {
		kept = c.follow(p, con)
	}
	bar := con.Progress(c.Quiet || c.JSON || c.Games == 1, c.Games, "games")
	report, err := p.PlayAll(ctx, c.Seed, c.Games, bar.Set)
	bar.Close()
	if err == nil {
		err = kept()
	}
	if err == nil {
		err = con.Print(c.JSON, report)
	}
	if err == nil {
		err = report.Fault()
	}
	return err
}

// follow makes p show and record its game, at the speed of the clock.
func (c *Match) follow(p *Player, con *program.Console) (kept func() error) {
	who, file := bots.Alias(c.Plugin)
	if who == file {
		who = "plugin:" + file
	}
	speed := 0. // of the clock: by default that of the rules where the game is shown, and none elsewhere
	if c.Show || c.Speed != nil {
		speed = *cmp.Or(c.Speed, new(1.))
	}
	state := wintetris.TickGame.New(1)
	state.Reset(c.Seed)
	rec := record.New(wintetris.TickGame, c.Seed, []string{who})
	begun := time.Now()
	var f env.Frame
	p.Each = func(ctx context.Context, e *wintetris.Engine, b wintetris.Bits, took time.Duration) error {
		a := env.Action(b) & env.Action(wintetris.TickGame.Actions-1)
		if c.Show {
			f.Reset()
			state.Show(&f)
			f.Note(fmt.Sprintf("tick %d: %s, after %.2f ms of %.0f", e.Ticks+1, wintetris.TickGame.Text(a),
				1000*took.Seconds(), wintetris.TickMS(e.Level())))
			f.Note("") // an empty line
			terminal := program.Terminal(con.Out)
			if err := human.Show(con.Out, &f, terminal, terminal); err != nil {
				return err
			}
		}
		if speed > 0 {
			if err := program.Sleep(ctx, human.TickTime(e.Level(), speed)-time.Since(begun)); err != nil {
				return err
			}
			begun = time.Now()
		}
		rec.Add(1, env.Alone(0, a))
		state.Step(env.Alone(0, a))
		return nil
	}
	return func() error {
		rec.End(state)
		if err := record.Check(wintetris.TickGame, rec); err != nil {
			return fmt.Errorf("the game as actions: %w", err)
		}
		return record.AppendTo(c.Record, rec)
	}
}

func (c *Match) player(con *program.Console) (*Player, error) {
	limit, patience := *cmp.Or(c.LimitMS, new(1000)), *cmp.Or(c.Patience, new(10*time.Second))
	c.Games = cmp.Or(c.Games, 1)
	switch {
	case c.Game != wintetris.Game.Name && c.Game != wintetris.TickGame.Name:
		return nil, fmt.Errorf("--plugin is for %s, not %s", wintetris.Game.Name, c.Game)
	case c.Games > 1 && (c.Show || c.Record != "" || c.Speed != nil):
		return nil, errors.New("--show, --record and --speed are for one game: leave out --games")
	case c.Speed != nil && !(*c.Speed >= 0 && *c.Speed <= 1000):
		return nil, fmt.Errorf("--speed %g: want 0 to 1000", *c.Speed)
	case c.Games < 1 || c.CapLines < 0 || limit < 0 || patience < 0:
		return nil, errors.New("--games is at least 1; --cap-lines, --limit-ms and --patience are not negative")
	case strings.ContainsRune(c.Options, 0):
		return nil, errors.New("--options: a zero byte")
	}
	_, file := bots.Alias(c.Plugin)
	p := &Player{Options: c.Options, Strict: c.Strict, Cap: c.CapLines, Config: library.Config{
		File: file, Limit: time.Duration(limit) * time.Millisecond, Patience: patience,
	}}
	if !c.Quiet && !c.JSON {
		p.Config.Output = con.Err
	}
	return p, nil
}

// Serves reports whether this process is the one that loads a library for another; Serve is then all that it does.
func Serves() bool { return len(os.Args) == 3 && os.Args[1] == library.ServeArgument }

// Serve answers the parent until it ends, and tells it errors.
func Serve() { _ = library.Serve(os.Args[2]) }
