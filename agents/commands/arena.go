package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/fleet/matches"
	"blockyard/agents/match"
	"blockyard/agents/match/clairvoyant"
	"blockyard/datasets/program"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/games"
)

// An arenaCmd has the flags of "agents arena". Its Run plays paired games between two agents, here or on workers.
type arenaCmd struct {
	Game    string  `arg:"" help:"Name of the game, such as blockbattle or blockbattle:classic."`
	A       string  `required:"" placeholder:"AGENT" help:"First agent, such as hand:ply=2. The result is its score."`
	B       string  `placeholder:"AGENT" help:"Second agent; optional in a game of one seat."`
	Games   int     `default:"400" help:"Number of games, even; in a game of one seat, of each agent."`
	Seats   int     `placeholder:"N" help:"Number of seats, if several are possible; above 2, A has one and B the others."`
	Seed    uint64  `default:"1" help:"Seed of the whole match."`
	SPRT    string  `name:"sprt" placeholder:"ELO0,ELO1[,ALPHA,BETA]" help:"Stop when a sequential test decides."`
	Book    string  `placeholder:"FILE" help:"Begin in positions of these recorded games."`
	BookAt  float64 `default:"0.75" needs:"book" placeholder:"SHARE" help:"share of a game's steps before its position."`
	Workers int     `needs:"!cluster" placeholder:"N" help:"Games at once, of the same result. Default: one per core."`
	Record  string  `placeholder:"FILE" help:"Write every game to this file, compressed if it ends in .gz."`
	JSON    bool    `name:"json" help:"Print one line of JSON and nothing else; agents/JSON.md describes it."`
	Quiet   bool    `short:"q" help:"Print no progress bar."`
	Cap     int     `aliases:"cap-lines,cap-score" placeholder:"N" help:"In a game of one seat: stop at this score."`
	Skip    int     `placeholder:"N" help:"In a game of one seat: skip this many seeds."`
	Steps   int     `placeholder:"N" help:"In a game of one seat: stop a game after this many actions."`

	Remote matches.Flags `embed:""`
}

func (c *arenaCmd) Run(ctx context.Context, con *console) error {
	m, forget, err := c.match(ctx)
	defer forget()
	if err != nil {
		return program.Usage(err)
	}
	return c.play(ctx, con, m)
}

func (c *arenaCmd) play(ctx context.Context, con *console, m match.Match) error {
	var result match.Versus
	o := output{record: c.Record, seed: strconv.FormatUint(c.Seed, 10), quiet: c.Quiet}
	err := playGames(ctx, con, o, c.Games, func(w *record.Writer, bar program.Bar) (games int, failed error) {
		workers, err := c.Remote.Start(ctx, &m, c.texts(), con.Err, logger(con, c.Quiet)) // none without --cluster
		if err != nil {
			return 0, err
		}
		defer func() { failed = errors.Join(failed, workers.Close(true)) }()
		m.Progress = func(games int, text string) { bar.Show(games, strings.TrimSpace(text+"  "+workers.Progress())) }
		if w != nil {
			m.Record = w.Write
		}
		r, err := m.Play(ctx)
		if err == nil && r.Games == 0 && m.Rules.MaxSeats == 1 {
			err = errors.New("no game was played to its end")
		}
		result = match.Versus{Report: r}
		return r.Games, err
	})
	if err != nil || result.Report == nil { // interrupted before the first game
		return cmp.Or(err, ctx.Err())
	}
	return con.Print(c.JSON, result)
}

// logger logs what workers do to standard error, and if quiet, warnings only.
func logger(con *console, quiet bool) *slog.Logger {
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(con.Err, &slog.HandlerOptions{Level: level}))
}

// match is the match that the flags describe. forget removes what its agents were compiled to, also after an error.
func (c *arenaCmd) match(ctx context.Context) (m match.Match, forget func(), err error) {
	forget = func() {}
	g, err := games.Open(c.Game)
	if err != nil {
		return m, forget, err
	}
	if c.Seats == 0 && g.MinSeats > 2 {
		c.Seats = g.MinSeats
	}
	each := 1 // games of a unit
	if g.MaxSeats > 1 {
		each = max(2, c.Seats)
	}
	if err := c.check(g, each); err != nil {
		return m, forget, err
	}
	m = match.Match{
		Rules: g, Units: c.Games / each, Seed: c.Seed, Workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0)),
		Seats: c.Seats, Skip: c.Skip, Cap: c.Cap, Steps: c.Steps,
	}
	if c.SPRT != "" {
		if m.SPRT, err = parseSPRT(c.SPRT); err != nil {
			return m, forget, err
		}
	}
	if c.Book != "" {
		if m.Book, err = match.ReadBook(ctx, c.Book, g, each, c.BookAt); err != nil {
			return m, forget, fmt.Errorf("--book: %w", err)
		}
	}
	texts, others := c.texts(), c.texts()
	for k, text := range texts {
		if clairvoyant.Is(text) && !c.Remote.Cluster.On {
			others[k] = "first" // in its place, until the others are there
		}
	}
	m.Players, forget, err = players(ctx, g, others...)
	for k, text := range texts {
		if err == nil && text != others[k] {
			m.Players[k], err = clairvoyant.Player(g, text)
		}
	}
	return m, forget, err
}

func (c *arenaCmd) texts() []string {
	return slices.DeleteFunc([]string{c.A, c.B}, func(text string) bool { return text == "" })
}

// check returns an error if the flags do not fit the game, in which a unit has so many games.
func (c *arenaCmd) check(g *env.Game, each int) error {
	switch alone := g.MaxSeats == 1; {
	case c.Workers < 0:
		return fmt.Errorf("--workers %d: want a number from 1, or 0 for one per core", c.Workers)
	case c.SPRT != "" && each != 2:
		return errors.New("--sprt is for two seats")
	case c.Book != "" && alone:
		return errors.New("--book is for two or more seats")
	case c.Seats > 1 && alone:
		return fmt.Errorf("--seats %d: the game is for one", c.Seats)
	case c.Games < 1 && alone:
		return fmt.Errorf("--games %d: want a number from 1", c.Games)
	case alone && (c.Cap < 0 || c.Skip < 0 || c.Steps < 0):
		return fmt.Errorf("--cap %d, --skip %d, --steps %d: want none below 0", c.Cap, c.Skip, c.Steps)
	case alone:
		return nil
	case c.B == "":
		return errors.New("missing flags: --b=AGENT")
	case c.Cap != 0 || c.Skip != 0 || c.Steps != 0:
		return fmt.Errorf("--cap, --skip and --steps are for games of one seat, %s has more", c.Game)
	case each < g.MinSeats || each > g.MaxSeats:
		return fmt.Errorf("--seats %d: %s is for %d to %d", each, g.Name, g.MinSeats, g.MaxSeats)
	case each == 2 && (c.Games < 2 || c.Games%2 != 0):
		return fmt.Errorf("--games %d: games come in pairs: want an even number from 2", c.Games)
	case c.Games < each || c.Games%each != 0:
		return fmt.Errorf("--games %d: A has every seat equally often: want a multiple of %d", c.Games, each)
	}
	return nil
}

// players are the agents as players of a match. forget removes what was compiled for them, also after an error.
func players(ctx context.Context, g *env.Game, texts ...string) (list []match.Player, forget func(), err error) {
	agents := make([]*bots.Agent, len(texts))
	for k, text := range texts {
		if agents[k], err = bots.Parse(g, bots.Own(text)); err != nil {
			return nil, func() {}, err
		}
	}
	makers, forget, err := factories(ctx, agents, false)
	for k, f := range makers {
		p := match.Player{Name: agents[k].Recorded(), New: f}
		if agents[k].Name != agents[k].Spec {
			p.Spec = agents[k].Spec
		}
		list = append(list, p)
	}
	return list, forget, err
}

func parseSPRT(text string) (*match.SPRT, error) {
	t := &match.SPRT{Alpha: 0.05, Beta: 0.05}
	into := []*float64{&t.Elo0, &t.Elo1, &t.Alpha, &t.Beta}
	parts := strings.Split(text, ",")
	if len(parts) != 2 && len(parts) != 4 {
		return nil, fmt.Errorf("--sprt %q: want ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA", text)
	}
	for i, p := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil {
			return nil, fmt.Errorf("--sprt %q: %q is not a number", text, p)
		}
		*into[i] = v
	}
	if err := t.Check(); err != nil {
		return nil, fmt.Errorf("--sprt %q: %w", text, err)
	}
	return t, nil
}
