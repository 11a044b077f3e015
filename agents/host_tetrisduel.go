package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/tetrisduelbot/referee"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// duelFlags are what a contest of the Tetris duel takes beside what all take.
type duelFlags struct {
	Pairs  int           `group:"tetrisduel" help:"Pairs of games of equal seed, the seats swapped, instead of --games; the original tournament's match is 10."`
	Budget time.Duration `group:"tetrisduel" default:"20s" help:"Time of a bot for all its half-turns of a game. Default ${default}."`
	Moves  string        `group:"tetrisduel" enum:"on,off" default:"on" help:"Whether requests list the legal placements: on or off. Default ${default}."`
	Tie    string        `group:"tetrisduel" enum:"draw,time" default:"draw" help:"Equal points: a draw, or less time wins. Default ${default}."`
}

// A duel is a match of the Tetris duel between two programs.
type duel struct {
	hostCmd *hostCmd
	series  *series // for its bots, seeds and logs
	results []duelGame
}

// A duelGame is one game of a duel.
type duelGame struct {
	Bots [2]int // by seat: index in series.bots
	referee.Outcome
}

// duel holds a contest of the Tetris duel and prints what it came to.
func (c *hostCmd) duel(ctx context.Context, con *console) error {
	d, err := c.newDuel(con)
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
		d.series.record = w
	}
	if !c.Quiet && !c.JSON && terminal(con.err) {
		bar := newBar(con.err, d.series.games, "games")
		d.series.progress = func(n int) { _ = bar.Set(n) }
		defer func() { _ = bar.Finish() }()
	}
	err = d.play(ctx)
	if d.series.record != nil && (err == nil || len(d.results) > 0) {
		if e := d.series.record.Close(); err == nil {
			err = e
		}
	}
	stopped := ctx.Err() != nil
	if err != nil && !(stopped && errors.Is(err, ctx.Err())) {
		return err
	}
	return d.summary(stopped).write(con.out, c.JSON)
}

func (c *hostCmd) newDuel(con *console) (*duel, error) {
	n := c.Games
	if c.Pairs != 0 {
		n = 2 * c.Pairs
	}
	switch {
	case len(c.Bot) != 2:
		return nil, fmt.Errorf("%d bots, want --bot twice", len(c.Bot))
	case n < 1:
		return nil, errors.New("--games and --pairs count from 1")
	case c.Budget <= 0:
		return nil, errors.New("--budget is above 0")
	}
	s := &series{rules: tetrisduel.Game, seed: c.Seed, games: n, logDir: c.Log}
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
	return &duel{hostCmd: c, series: s}, nil
}

// play plays the games. The error may be that of ctx; the results are then those of the
// games that ended.
func (d *duel) play(ctx context.Context) error {
	for i := 0; i < d.series.games; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.game(ctx, i); err != nil {
			return err
		}
		if d.series.progress != nil {
			d.series.progress(i + 1)
		}
	}
	return nil
}

// game plays game i, in which bot i%2 has the first seat.
func (d *duel) game(ctx context.Context, i int) (err error) {
	s := d.series
	out := duelGame{Bots: [2]int{i % 2, 1 - i%2}}
	log, err := s.openLog(i)
	if err != nil {
		return err
	}
	defer func() {
		if e := log.close(); err == nil {
			err = e
		}
	}()
	state := new(tetrisduel.State)
	state.Reset(s.seedOf(i))
	rec := record.New(s.rules, s.seedOf(i), []string{"exec:" + s.bots[out.Bots[0]].name, "exec:" + s.bots[out.Bots[1]].name})
	g := referee.Game{
		State: state, Time: d.hostCmd.Budget, Log: log.line,
		NoList: d.hostCmd.Moves == "off", TieByTime: d.hostCmd.Tie == "time",
		Watch: func(s *tetrisduel.State, a env.Action) { rec.Add(s.Acting(), env.Alone(s.Mover(), a)) },
	}
	for seat, b := range out.Bots {
		log.names[seat] = fmt.Sprintf("player%d", seat+1)
		log.notef("%s is %s", log.names[seat], s.bots[b].name)
		p, err := contest.Start(s.bots[b].argv, func(text string) { log.line(contest.Error, seat, text) })
		if err != nil {
			log.line(contest.Error, seat, err.Error())
			continue // it is missing
		}
		g.Bots[seat] = p
	}
	out.Outcome, err = g.Play(ctx)
	rec.End(state)
	rec.Meta = map[string]string{"reason": out.Reason, "winner": fmt.Sprint(out.Winner + 1)}
	if e := s.keep(rec); e != nil && err == nil {
		err = e
	}
	if err == nil {
		d.results = append(d.results, out)
	}
	return err
}
