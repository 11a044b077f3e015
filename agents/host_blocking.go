package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"blockyard/agents/blockingbot/referee"
	"blockyard/agents/contest"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blocking"
)

// blockingFlags are what a contest of Blocking takes beside what all take.
type blockingFlags struct {
	FirstTime time.Duration `group:"blocking" default:"1s" help:"Limit of a bot's first answer, its start included. Default ${default}."`
	Time      time.Duration `group:"blocking" default:"200ms" help:"Limit of the later ones. Default ${default}."`
	Tolerance time.Duration `group:"blocking" default:"50ms" help:"Added to both, for a loaded machine. Default ${default}."`
	Seatings  string        `group:"blocking" enum:"cyclic,all" default:"cyclic" help:"Games of equal letters: every bot in every seat (cyclic) or every order of seats (all). Default ${default}."`
	EarlyEnd  string        `group:"blocking" enum:"on,off" default:"on" help:"Whether a game that is decided ends: on or off. Default ${default}."`
	Shapes    string        `group:"blocking" placeholder:"FILE" help:"21 lines letter cols rows string: other shapes than the default ones."`
}

// A blockingSeries is a match of Blocking between two to four programs.
type blockingSeries struct {
	rules    *env.Game
	bots     []hosted
	seatings [][]int // bot of each seat
	games    int
	seed     uint64
	limits   referee.Limits
	playOut  bool
	logs     *series // where the lines of a game go
	record   *record.Writer
	kept     int
	progress func(games int)
	results  []blockingGame
}

// A blockingGame is one game. Arrays are by seat.
type blockingGame struct {
	Seed    uint64
	Seating []int
	Reason  string
	Tallies []referee.Tally
}

// blocking holds a contest of Blocking and prints what it came to.
func (c *hostCmd) blocking(ctx context.Context, con *console) error {
	s, err := c.newBlocking(con)
	if err != nil {
		return usage{err}
	}
	if c.Log != "" {
		if err := os.MkdirAll(c.Log, 0o755); err != nil {
			return err
		}
	}
	if c.Record != "" {
		if s.record, err = record.Create(c.Record); err != nil {
			return err
		}
		defer s.record.Discard()
	}
	if !c.Quiet && !c.JSON && terminal(con.err) {
		bar := newBar(con.err, s.games, "games")
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
	return s.summary(stopped).write(con.out, c.JSON)
}

func (c *hostCmd) newBlocking(con *console) (*blockingSeries, error) {
	n := len(c.Bot)
	switch {
	case n < 2 || n > 4:
		return nil, fmt.Errorf("%d bots, want --bot two to four times", n)
	case c.Games < 1:
		return nil, fmt.Errorf("--games %d: want a number from 1", c.Games)
	case c.FirstTime <= 0 || c.Time <= 0 || c.Tolerance < 0:
		return nil, errors.New("--first-time and --time are above 0, --tolerance from 0")
	case c.Shapes != "" && c.Record != "":
		return nil, errors.New("--shapes and --record do not go together: a record is of the default shapes")
	}
	s := &blockingSeries{
		rules: blocking.Game, games: c.Games, seed: c.Seed, playOut: c.EarlyEnd == "off",
		limits:   referee.Limits{First: c.FirstTime, Later: c.Time, Tolerance: c.Tolerance},
		seatings: seatings(n, c.Seatings == "all"), logs: &series{logDir: c.Log},
	}
	for i, line := range c.Bot {
		argv := contest.Command(line)
		if len(argv) == 0 {
			return nil, fmt.Errorf("bot %d: no command", i+1)
		}
		s.bots = append(s.bots, hosted{name: line, argv: argv})
	}
	if !c.Quiet && !c.JSON {
		s.logs.errors = con.err
	}
	var err error
	if c.Shapes != "" {
		s.rules, err = shapedGame(c.Shapes)
	}
	return s, err
}

// shapedGame is Blocking with the shapes of a file.
func shapedGame(path string) (*env.Game, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	shapes, err := blocking.ReadShapes(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return blocking.With("shapes", blocking.NewTable(shapes))
}

// seatings lists who sits where in games of equal letters: all cyclic shifts of 0 to n-1,
// or all orders of them.
func seatings(n int, all bool) (out [][]int) {
	if !all {
		for shift := range n {
			order := make([]int, n)
			for seat := range order {
				order[seat] = (seat + shift) % n
			}
			out = append(out, order)
		}
		return out
	}
	if n == 0 {
		return [][]int{{}}
	}
	for _, shorter := range seatings(n-1, true) {
		for at := range n {
			order := append(append(append([]int{}, shorter[:at]...), n-1), shorter[at:]...)
			out = append(out, order)
		}
	}
	return out
}

// play plays the games. The error may be that of ctx; the results are then those of the
// games that ended.
func (s *blockingSeries) play(ctx context.Context) error {
	for i := range s.games {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.game(ctx, i); err != nil {
			return err
		}
		if s.progress != nil {
			s.progress(i + 1)
		}
	}
	return nil
}

// game plays game i.
func (s *blockingSeries) game(ctx context.Context, i int) (err error) {
	n := len(s.seatings)
	out := blockingGame{Seed: env.Derive(s.seed, uint64(i/n)), Seating: s.seatings[i%n]}
	log, err := s.logs.openLog(i)
	if err != nil {
		return err
	}
	defer func() {
		if e := log.close(); err == nil {
			err = e
		}
	}()
	state := s.rules.New(len(s.bots)).(*blocking.State)
	state.PlayOut = s.playOut
	state.Reset(out.Seed)
	rec, err := s.begin(state, &out)
	if err != nil {
		return err
	}
	for seat, b := range out.Seating {
		log.names[seat] = fmt.Sprintf("player%d", seat)
		log.notef("%s is %s", log.names[seat], s.bots[b].name)
	}
	g := referee.Game{
		State: state, Limits: s.limits, Log: log.line,
		Watch: func(s *blocking.State, seat int, a env.Action) { rec.Add(s.Acting(), env.Alone(seat, a)) },
		Start: func(seat int) (contest.Asker, error) {
			return contest.Start(s.bots[out.Seating[seat]].argv, func(text string) { log.line(contest.Error, seat, text) })
		},
	}
	out.Tallies, err = g.Play(ctx)
	out.Reason = state.Reason.String()
	rec.End(state)
	if e := s.keep(rec, out.Reason); e != nil && err == nil {
		err = e
	}
	if err == nil {
		s.results = append(s.results, out)
	}
	return err
}

// begin is the record of a game.
func (s *blockingSeries) begin(state *blocking.State, g *blockingGame) (*record.Record, error) {
	var names []string
	for _, b := range g.Seating {
		names = append(names, "exec:"+s.bots[b].name)
	}
	rec := record.New(s.rules, g.Seed, names)
	var err error
	if s.playOut { // which the seed does not tell
		rec.Start, err = env.Encode(nil, state)
	}
	return rec, err
}

// keep records a game, the one that was broken off included.
func (s *blockingSeries) keep(rec *record.Record, reason string) error {
	if s.record == nil {
		return nil
	}
	rec.Meta = map[string]string{"reason": reason}
	if err := record.Check(s.rules, rec); err != nil {
		return fmt.Errorf("the game as actions: %w", err)
	}
	s.kept++
	return s.record.Write(rec)
}
