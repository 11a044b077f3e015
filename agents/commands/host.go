package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/contest/cage"
	"blockyard/agents/match"
	"blockyard/agents/match/series"
	"blockyard/datasets/program"
	"blockyard/datasets/record"
	"blockyard/env"
)

// A hostCmd has the flags of "agents host". Its Run plays the games of a contest between programs.
type hostCmd struct {
	Game      string   `arg:"" help:"Name of a game whose contest is between programs, such as blockbattle."`
	Mode      string   `arg:"" optional:"" help:"dropblox: local (the default), practice or compete."`
	Number    string   `arg:"" optional:"" name:"seed" help:"dropblox: seed of a local game, like --seed."`
	Bot       []string `sep:"none" placeholder:"BOT" help:"A command line, a submission or an agent; one flag for each."`
	hostGames `needs:"!mode=practice !mode=compete"`
	timing
	Isolate cage.Mode `enum:"auto,require,off" default:"auto" help:"Contain submissions (auto), all programs or none."`
	Quiet   bool      `short:"q" help:"Show neither a progress bar nor the bots' standard error."`
	contestFlags
}

// hostGames are flags for games on this machine.
type hostGames struct {
	Games  *int   `placeholder:"N" help:"Number of games; by default 2, of dropblox 1."`
	Seed   string `placeholder:"N" help:"Seed of the whole match; by default 1, of dropblox a random one."`
	Record string `placeholder:"FILE" help:"Write the games' records to this file, compressed if it ends in .gz."`
	Log    string `placeholder:"DIR" help:"Folder for a log per game: all lines, and the time of every answer."`
	JSON   bool   `name:"json" help:"Print one line of JSON and nothing else; agents/JSON.md describes it."`
}

// Help is what follows the text of help/host.txt.
func (*hostCmd) Help() string { return "\n" + aboutContests("") }

func (c *hostCmd) Run(ctx context.Context, con *console) error {
	g, rules, settings, err := c.contest(c.Game)
	if err != nil {
		return program.Usage(err)
	}
	if err := c.Isolate.Check(); err != nil {
		return program.Usage(err)
	}
	if rules.Open == nil {
		return c.rounds(ctx, con, g, settings)
	}
	s, lines, err := c.series(con, g, rules, settings)
	if err != nil {
		return program.Usage(err)
	}
	players, forget, err := c.players(ctx, g)
	defer forget()
	if err != nil {
		return err
	}
	lines.Player = func(number int) contest.Player { return players[number] }
	return c.play(ctx, con, s, players)
}

func (c *hostCmd) play(ctx context.Context, con *console, s *series.Series, players []contest.Player) error {
	for _, p := range players {
		s.Names = append(s.Names, p.Name)
	}
	o := output{c.Record, c.Log, s.Seed, c.Quiet || c.JSON}
	err := playGames(ctx, con, o, len(s.Games), func(w *record.Writer, bar program.Bar) (int, error) {
		s.Record, s.Done = w, bar.Set
		if r, ok := s.Runner.(*series.Rounds); ok {
			r.Tell = bar.Describef
		}
		return s.Play(ctx)
	})
	if err != nil {
		return err
	}
	return con.Print(c.JSON, s.Report())
}

// players prepares the agents of --bot and returns how they play. A program plays in a cage, or a submission out of the
// one in which it would, as --isolate says. forget removes what was compiled for them, also after an error.
func (c *hostCmd) players(ctx context.Context, g *env.Game) (list []contest.Player, forget func(), err error) {
	agents, err := contestants(g, c.Bot)
	if err != nil {
		return nil, func() {}, program.Usage(err)
	}
	if forget, err = bots.PrepareAll(ctx, agents...); err != nil {
		return nil, forget, err
	}
	for k, a := range agents {
		p, err := a.Player()
		switch {
		case err != nil:
			return nil, forget, program.Usage(fmt.Errorf("bot %d: %w", k+1, err))
		case c.Isolate == cage.Off:
			p.Cage = cage.Opened(p.Cage)
		case c.Isolate == cage.Require && a.Kind == bots.Program:
			p.Cage = cage.For(p.Argv, p.Dir)
		}
		list = append(list, p)
	}
	return list, forget, nil
}

// series is the match that the flags ask for, without its players, and how its games are played.
func (c *hostCmd) series(con *console, g *env.Game, rules *contest.Contest,
	settings contest.Settings) (*series.Series, *series.Lines, error) {
	n := len(c.Bot)
	switch {
	case c.Mode != "" || c.Number != "":
		return nil, nil, fmt.Errorf("%q: want --bot before each bot, and --seed before a seed", c.Mode)
	case n < g.MinSeats || n > g.MaxSeats:
		return nil, nil, fmt.Errorf("%d bots, want --bot %s", n, times(g.MinSeats, g.MaxSeats))
	}
	setup, err := rules.Open(g, settings)
	if err != nil {
		return nil, nil, err
	}
	count := *cmp.Or(c.Games, new(cmp.Or(setup.Games, 2)))
	if count < 1 || c.Games != nil && setup.Games > 0 {
		return nil, nil, errors.New("--games: want a number from 1, and one flag that says how many")
	}
	seed, err := strconv.ParseUint(cmp.Or(c.Seed, "1"), 10, 64)
	if err != nil {
		return nil, nil, fmt.Errorf("--seed %.40s: want a whole number from 0 to 2^64-1", c.Seed)
	}
	lines := &series.Lines{Rules: g, Setup: setup, Clock: c.Clock, Log: c.log(func(p *match.Played) string {
		return fmt.Sprintf("game-%03d", p.Number+1)
	})}
	if !c.Quiet && !c.JSON {
		lines.Errors = con.Err
	}
	seatings := series.Seatings(n, settings["seatings"] == "all")
	games := series.Seated(count, seatings, seed, settings["new-seed"] == "game")
	return &series.Series{Rules: g, Seed: strconv.FormatUint(seed, 10), Games: games, Runner: lines}, lines, nil
}

// log returns the file for the log of a game with this name, nil if no logs are wanted.
func (c *hostCmd) log(name func(*match.Played) string) func(*match.Played) string {
	if c.Log == "" {
		return nil
	}
	return func(p *match.Played) string { return filepath.Join(c.Log, name(p)+".log") }
}

func times(least, most int) string {
	words := []string{"", "once", "twice", "three times", "four times"}
	return strings.Join(slices.Compact([]string{words[least], words[most]}), " to ")
}

// defaultProgram is the program that the original client plays with.
var defaultProgram = map[bool]string{true: "dropblox_ai.bat", false: "dropblox_ai"}[runtime.GOOS == "windows"]

// A roundsHost plays a contest whose programs are started for every turn.
type roundsHost struct {
	*hostCmd
	seeds    []string
	workers  int
	rounds   series.Rounds // with the clock and the limits of the games
	settings contest.Settings
}

func (c *hostCmd) rounds(ctx context.Context, con *console, g *env.Game, settings contest.Settings) error {
	h := &roundsHost{hostCmd: c, settings: settings}
	if err := h.check(); err != nil {
		return program.Usage(err)
	}
	players, forget, err := h.players(ctx, g)
	defer forget()
	if err != nil {
		return program.Usage(err)
	}
	for k := range players {
		p := &players[k]
		if h.settings["own-dir"] == "true" && p.Dir == "" {
			p.Dir = filepath.Dir(p.Argv[0])
		}
		p.Name = strings.TrimPrefix(p.Name, "exec:")
	}
	shown := &series.Shown{Program: players[0], Out: con.Out, Colour: program.Terminal(con.Out),
		Folders: h.history("history")}
	if !h.Quiet {
		shown.Errors = con.Err
	}
	switch {
	case h.Mode != "local":
		return shown.Remote(ctx, h.settings["server"], h.Mode, h.settings["config"])
	case len(players) > 1 || len(h.seeds) > 1 || h.JSON || h.Log != "":
		return h.series(ctx, con, g, players)
	}
	if h.Seed == "" {
		fmt.Fprintln(con.Out, "Seed:", h.seeds[0])
	}
	o := output{record: h.Record, seed: h.seeds[0], quiet: true}
	return playGames(ctx, con, o, 1, func(w *record.Writer, _ program.Bar) (int, error) {
		return shown.Local(ctx, h.rounds.Game, o.seed, w)
	})
}

func (h *roundsHost) check() error {
	if h.Clock == contest.Wall {
		return errWallAnyway
	}
	h.Mode = cmp.Or(h.Mode, "local")
	remote, seeds, count := h.Mode != "local", h.settings["seeds"] != "", *cmp.Or(h.Games, new(1))
	twice := h.Number != "" && h.Seed != ""
	h.Seed = cmp.Or(h.Seed, h.Number)
	var errs [2]error
	h.workers, errs[0] = h.settings.Number("workers", 1)
	h.rounds.Game, errs[1] = series.LocalGame(h.settings)
	switch err := errors.Join(errs[:]...); {
	case err != nil:
		return err
	case count < 1:
		return fmt.Errorf("--games %d: want a number from 1", count)
	case twice:
		return errors.New("the seed is given twice: want it as an argument or with --seed")
	case h.Mode != "local" && h.Mode != "practice" && h.Mode != "compete":
		return fmt.Errorf("mode %.40q: want local, practice or compete", h.Mode)
	case seeds && (h.Seed != "" || count != 1):
		return errors.New("--seeds does not go with another seed or --games")
	case remote && (h.Seed != "" || len(h.Bot) > 1):
		return fmt.Errorf("%s takes one program and no seed", h.Mode)
	case remote && h.settings["server"] == "":
		return fmt.Errorf("%s needs --server=URL", h.Mode)
	}
	if len(h.Bot) == 0 {
		h.Bot = []string{defaultProgram}
	}
	texts := []string{strings.TrimSpace(h.Seed)}
	if seeds {
		texts = strings.Split(h.settings["seeds"], ",")
	}
	var err error
	h.seeds, err = series.Seeds(texts, count)
	return err
}

// history is the folder that the user names for the games' folders, or another one.
func (h *roundsHost) history(otherwise string) string {
	if dir, ok := h.given()["history"]; ok {
		return dir
	}
	return otherwise
}

// series plays every seed with every program and prints the result.
func (h *roundsHost) series(ctx context.Context, con *console, g *env.Game, players []contest.Player) error {
	h.rounds.Game.Folders = h.history("")
	s := &series.Series{Rules: g, Seed: h.seeds[0], Games: series.Alone(len(players), h.seeds), Workers: h.workers,
		Settings: map[string]string{}}
	for _, name := range []string{"seconds", "turns", "points"} {
		if v := h.settings[name]; v != "" && v != "0" {
			s.Settings[name] = v
		}
	}
	h.rounds.Log = h.log(func(p *match.Played) string { return match.Letter(p.Seats[0]) + strconv.Itoa(p.Unit+1) })
	h.rounds.Player = func(number int) contest.Player { return players[number] }
	s.Runner = &h.rounds
	return h.play(ctx, con, s, players)
}
