package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/contest"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/games"
	"blockyard/env/tetrisduel"
)

type hostCmd struct {
	Game     string        `arg:"" help:"Name of the game: blockbattle, tetrisduel or blocking."`
	Bot      []string      `required:"" sep:"none" placeholder:"CMD" help:"Command line of a bot; given twice, for blocking two to four times."`
	Games    int           `default:"2" help:"Games to play; two at a time have the same seed, with the seats swapped. Default ${default}."`
	Seed     uint64        `default:"1" help:"Seed of the whole match. Default ${default}."`
	Dialect  string        `enum:"classic,port" default:"classic" help:"What is spoken: classic or port. Default ${default}."`
	Profile  string        `enum:"document,classic,port" default:"document" help:"Whose rules: document, classic or port. Default ${default}."`
	Timebank time.Duration `default:"10s" help:"Time bank at the start, and the most there can be. Default ${default}."`
	PerMove  time.Duration `name:"time-per-move" default:"500ms" help:"Added after every answer. Default ${default}."`
	Timeouts int           `help:"So many time-outs end a bot; by default 2, classic 3, port 1."`
	Record   string        `placeholder:"FILE" help:"Write every game to this file, compressed if it ends in .gz."`
	Log      string        `placeholder:"DIR" help:"Write everything said, standard error included, to one file a game in this folder."`
	JSON     bool          `name:"json" help:"Print one line of JSON and nothing else."`
	Quiet    bool          `short:"q" help:"No progress bar, and no standard error of the bots, on standard error."`
	duelFlags
	blockingFlags
}

// Help tells more about the command.
func (*hostCmd) Help() string {
	return `Runs any two programs that talk the contest's protocol, in any language; a command
line that needs a shell gets one. Every game starts both anew. A late answer is thrown
away and counts as none; a bot that ends loses its moves, not its game. Ctrl-C ends the
match with the games played so far.

In Blocking a bot that is late, ends or answers anything but a legal placement is
eliminated; --games counts games in all, and those of equal letters follow each other.

In the Tetris duel a fault loses the game at once: illegal, exception, timeout, missing.
A match (--pairs) is won by more games, then by more time left. An original Python bot
plays as: python3 agents/tetrisduelbot/pybot.py BOT.py

In a log, "player1 <" is what a bot was told, ">" what it answered, "!" a line of its
standard error, "*" the host's remark about it; other lines are the host's own.`
}

var (
	profiles = map[string]string{"document": "", "classic": ":classic", "port": ":port"}
	patience = map[string]int{"document": 2, "classic": 3, "port": 1}
	dialects = map[string]blockbattlebot.Dialect{"classic": blockbattlebot.ClassicDialect, "port": blockbattlebot.PortDialect}
)

// Run plays the match and prints what it came to.
func (c *hostCmd) Run(ctx context.Context, con *console) error {
	if g, _ := games.Lookup(c.Game); g == tetrisduel.Game {
		return c.duel(ctx, con)
	} else if g == blocking.Game {
		return c.blocking(ctx, con)
	}
	s, err := c.series(con)
	if err != nil {
		return usage{err}
	}
	if c.Log != "" {
		if err := os.MkdirAll(c.Log, 0o755); err != nil {
			return err
		}
	}
	if c.Record != "" {
		w, err := record.Create(c.Record)
		if err != nil {
			return err
		}
		defer w.Discard()
		s.record = w
	}
	if !c.Quiet && !c.JSON && terminal(con.err) {
		bar := newBar(con.err, c.Games, "games")
		s.progress = func(n int) { _ = bar.Set(n) }
		defer func() { _ = bar.Finish() }()
	}
	err = s.play(ctx)
	if s.record != nil && (err == nil || s.kept > 0) {
		if e := s.record.Close(); err == nil {
			err = e
		}
	}
	stopped := ctx.Err() != nil
	if err != nil && !(stopped && errors.Is(err, ctx.Err())) {
		return err
	}
	return s.summary(c.Games, stopped).write(con.out, c.JSON)
}

// series is the match that was asked for.
func (c *hostCmd) series(con *console) (*series, error) {
	if _, err := hostable(c.Game); err != nil {
		return nil, err
	}
	g, err := hostable("blockbattle" + profiles[c.Profile])
	switch {
	case err != nil:
		return nil, err
	case len(c.Bot) != 2:
		return nil, fmt.Errorf("%d bots, want --bot twice", len(c.Bot))
	case c.Games < 1:
		return nil, fmt.Errorf("--games %d: want a number from 1", c.Games)
	case c.Timebank <= 0 || c.PerMove < 0 || c.Timeouts < 0:
		return nil, errors.New("--timebank, --time-per-move and --timeouts are not negative")
	}
	s := &series{
		rules: g, dialect: dialects[c.Dialect], seed: c.Seed, games: c.Games, logDir: c.Log,
		limits: contest.Limits{Bank: c.Timebank, PerMove: c.PerMove, Timeouts: c.Timeouts},
	}
	if s.limits.Timeouts == 0 {
		s.limits.Timeouts = patience[c.Profile]
	}
	for i, line := range c.Bot {
		argv := contest.Command(line)
		if len(argv) == 0 {
			return nil, fmt.Errorf("bot %d: no command", i+1)
		}
		s.bots[i] = hosted{name: line, argv: argv}
	}
	if !c.Quiet && !c.JSON {
		s.errors = con.err
	}
	return s, nil
}

// A hosted bot is a command line.
type hosted struct {
	name string
	argv []string
}

// seedOf is the seed of game i: two games share one.
func (s *series) seedOf(i int) uint64 { return env.Derive(s.seed, uint64(i/2)) }
