package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/contest/compile"
	"blockyard/agents/match"
	"blockyard/agents/match/series"
	"blockyard/agents/match/tournament"
	"blockyard/datasets/program"
	"blockyard/datasets/program/web"
)

// hosting are the flags of commands in which programs of others play.
type hosting struct {
	Seed      uint64        `default:"1" help:"Seed of the whole. Every game, or pair of a league, has a seed of its own."`
	Workers   int           `placeholder:"N" help:"Games, or tests, at once. Default: as many as processors are free."`
	BuildTime time.Duration `default:"2m" help:"Time to compile a submission."`
	Memory    int           `default:"1024" help:"Memory of an entrant in MiB, 0 for no limit (on Linux)."`
	MaxSize   int           `default:"32" help:"Largest submission, packed and unpacked, in MiB."`
	Isolate   cage.Mode     `enum:"auto,require,off" default:"auto" help:"Contain the programs of others: ${enum}."`
	JSON      bool          `name:"json" help:"Print one line of JSON and nothing else; agents/JSON.md describes it."`
	Quiet     bool          `short:"q" help:"Print no progress bar."`
	timing
	contestFlags
}

// paging are the flags of commands that serve the page of their folder.
type paging struct {
	Listen string    `placeholder:"HOST:PORT" help:"Serve the page at this address, until Ctrl-C."`
	Names  web.Names `name:"allowed-host" needs:"listen" placeholder:"NAME" help:"another name of it."`
}

// serve serves a page, if that is wanted. The function that it returns waits for the end of that, unless
// there is an error.
func (p *paging) serve(ctx context.Context, con *console, page http.Handler) (func(error) error, error) {
	if p.Listen == "" {
		return func(err error) error { return err }, nil
	}
	l, err := web.Listen(p.Listen, "/", false, con.Err, con.Err)
	if err != nil {
		return nil, program.Usage(err)
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(ctx, l, page, web.Limits{Names: p.Names}) }()
	return func(err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() == nil {
			fmt.Fprintln(con.Err, "the page is still there, until Ctrl-C")
		}
		return <-served
	}, nil
}

// plays plays a tournament or league in a folder, and prints how it stands at the end.
func (c *hosting) plays(ctx context.Context, con *console, t *tournament.Tournament, dir string,
	bar program.Bar, play func(context.Context) error) error {
	defer bar.Close()
	made := program.Begin("agents", strconv.FormatUint(c.Seed, 10))
	if err := made.Open(dir); err != nil {
		return err
	}
	t.Changed = pages(dir, bar)
	err := match.IgnoreStop(ctx, play(ctx)) // the report says that games are missing
	bar.Close()
	return errors.Join(err, made.Close(dir), con.Print(c.JSON, t.Report()))
}

// pages returns what writes the page of a tournament. While it plays, that is once a second at most, and in a twentieth
// of the time.
func pages(dir string, bar program.Bar) func(*tournament.Tournament) error {
	var last time.Time
	var took time.Duration
	games, before := -1, -1 // before: games of an earlier command, which would count in the pace of a bar without an end
	return func(t *tournament.Tournament) error {
		if before < 0 && t.Expected == 0 {
			before = len(t.Played)
		}
		bar.ChangeMax(cmp.Or(t.Expected, -1))
		bar.Set(len(t.Played) - max(before, 0))
		if more := len(t.Played) > games; more && time.Since(last) < max(time.Second, 20*took) && !t.Over && !t.Stopped {
			return nil
		}
		begun := time.Now()
		err := t.WritePage(dir)
		last, games, took = time.Now(), len(t.Played), time.Since(begun)
		return err
	}
}

// bar is the progress of a tournament, whose number of games is not known yet.
func (c *hosting) bar(con *console) program.Bar { return con.Progress(c.Quiet || c.JSON, -1, "games") }

// check returns an error if a flag makes no sense.
func (c *hosting) check() error {
	switch {
	case c.Workers < 0:
		return fmt.Errorf("--workers %d: want a number from 1, or 0 for as many as processors are free", c.Workers)
	case c.Memory < 0 || c.MaxSize < 1 || c.BuildTime <= 0:
		return errors.New("--memory is not negative, --max-size and --build-time above 0")
	}
	return c.Isolate.Check()
}

// setRunner sets how the games of a contest are played, and returns the settings as text.
func (c *hosting) setRunner(t *tournament.Tournament, dir string, rules *contest.Contest, settings contest.Settings) (
	string, error) {
	t.Seed, t.Isolate = c.Seed, c.Isolate
	log := func(p *match.Played) string { return filepath.Join(dir, tournament.LogFile(p.Number)) }
	player := func(number int) contest.Player { return t.Entrants[number].Player() }
	if rules.Open == nil {
		if c.Clock == contest.Wall {
			return "", errWallAnyway
		}
		game, err := series.LocalGame(settings)
		text := game.Clock.String()
		if game.Turns > 0 {
			text += " --turns " + settings["turns"]
		}
		t.Runner = &series.Rounds{Game: game, Log: log, Player: player}
		t.Test = func(ctx context.Context, e *tournament.Entrant) error {
			return tournament.TestTurns(ctx, game.Clock, e)
		}
		return text, err
	}
	setup, err := rules.Open(t.Rules, settings)
	rival, wrong := bots.Parse(t.Rules, bots.Foreign("first", nil))
	if err = errors.Join(err, wrong); err != nil {
		return "", err
	}
	p, err := rival.Program()
	lines := &series.Lines{Rules: t.Rules, Setup: setup, Log: log, Clock: c.Clock, Strict: true, Losses: rules.Losses,
		Player: player}
	t.Runner = lines
	t.Test = func(ctx context.Context, e *tournament.Entrant) error { return tournament.TestLines(ctx, *lines, p, e) }
	text := settingsText(rules, c.given())
	if c.Clock == contest.Wall {
		text = strings.TrimSpace(text + " --clock wall")
	}
	return text, err
}

// ready compiles an entrant below a folder, contains it and tests it.
func (c *hosting) ready(ctx context.Context, t *tournament.Tournament, dir string, e *tournament.Entrant,
	all []*tournament.Entrant, tested bool) error {
	limits := compile.Default
	limits.Time, limits.Size = c.BuildTime, int64(c.MaxSize)<<20
	limits.Open = c.Isolate == cage.Off
	err := e.Prepare(ctx, dir, limits, int64(c.Memory)<<20, all)
	if err == nil && e.Refused == "" && !tested {
		err = t.Test(ctx, e)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	return nil
}
