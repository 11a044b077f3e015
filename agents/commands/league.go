package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/BurntSushi/toml"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/datasets/program"
	"blockyard/env"
)

// A leagueCmd has the commands of "agents league".
type leagueCmd struct {
	Play leaguePlayCmd `cmd:"" default:"withargs" help:"Play games between all that are in the folder of a league."`
	Try  leagueTryCmd  `cmd:"" help:"Play a candidate against those that a league keeps, and keep or reject it."`
}

// A leaguePlayCmd has the flags of "agents league GAME". Its Run plays until it is told to stop.
type leaguePlayCmd struct {
	Game  string        `arg:"" help:"Name of a game whose contest is between programs, such as blockbattle."`
	Dir   string        `default:"league" placeholder:"DIR" help:"Folder of the league, new or to continue."`
	Games int           `placeholder:"N" help:"End when the league has so many games. Default: play until Ctrl-C."`
	For   time.Duration `placeholder:"TIME" help:"End after this time, when the games in progress are over."`
	paging
	hosting
}

// A leagueTryCmd has the flags of "agents league try".
type leagueTryCmd struct {
	Candidate string `arg:"" help:"The candidate: an archive, a source file or a folder."`
	Dir       string `default:"league" placeholder:"DIR" help:"Folder of the league, new or to continue."`
	Game      string `placeholder:"GAME" help:"Game of a new league, such as blockbattle."`
	Against   string `default:"best" help:"Whom it meets: best (the highest rating), kept (all in turn) or a name."`
	SPRT      string `name:"sprt" default:"0,50" placeholder:"ELO0,ELO1[,ALPHA,BETA]" help:"Test that decides."`
	Games     int    `default:"1000" help:"Games of a candidate, after which it is neither kept nor rejected."`
	hosting
}

func (c *leaguePlayCmd) Run(ctx context.Context, con *console) error {
	if c.Games < 0 || c.For < 0 {
		return program.Usage(fmt.Errorf("--games %d, --for %v: want none below 0", c.Games, c.For))
	}
	made := program.Begin("agents", strconv.FormatUint(c.Seed, 10))
	l, err := c.league(con, c.Dir, c.Game)
	if err != nil {
		return err
	}
	defer l.Journal.Close()
	if err := made.Open(c.Dir); err != nil {
		return err
	}
	served, err := c.serve(ctx, con, c.Dir)
	if err != nil {
		return err
	}
	if l.Limit = c.Games; c.For > 0 {
		until, cancel := context.WithTimeout(context.Background(), c.For)
		defer cancel()
		l.Until = until.Done()
	}
	bar := con.Progress(c.Quiet || c.JSON, cmp.Or(c.Games, -1), "games")
	defer bar.Close()
	l.Changed = pages(c.Dir, bar)
	if err = l.Play(ctx); ctx.Err() != nil && match.Stopped(err) {
		err = nil
	}
	bar.Close()
	return served(errors.Join(err, made.Close(c.Dir), con.Print(c.JSON, l.Report())))
}

// pages returns what writes the page of a league, at most once a second while it plays.
func pages(dir string, bar program.Bar) func(*tournament.Tournament) error {
	var last time.Time
	games := -1
	return func(t *tournament.Tournament) error {
		bar.Set(len(t.Played))
		if more := len(t.Played) > games; more && time.Since(last) < time.Second && !t.Over && !t.Stopped {
			return nil
		}
		last, games = time.Now(), len(t.Played)
		return t.WritePage(dir)
	}
}

func (c *leagueTryCmd) Run(ctx context.Context, con *console) error {
	test, err := parseSPRT(c.SPRT)
	if err != nil {
		return program.Usage(err)
	}
	if c.Games < 1 {
		return program.Usage(fmt.Errorf("--games %d: want at least 1", c.Games))
	}
	if _, err := os.Stat(c.Candidate); err != nil {
		return program.Usage(fmt.Errorf("a candidate is an archive, a source file or a folder: %w", err))
	}
	l, err := c.league(con, c.Dir, c.Game)
	if err != nil {
		return err
	}
	defer l.Journal.Close()
	bar := con.Progress(c.Quiet || c.JSON, -1, "games")
	defer bar.Close()
	l.Changed = pages(c.Dir, bar)
	result, err := l.Try(ctx, bots.Submitted(l.Rules, c.Candidate), c.Against, test, c.Games)
	bar.Close()
	if err != nil {
		return err
	}
	return con.Print(c.JSON, result)
}

// league opens the league of a folder, which is begun if it is new. Without the name of a game, it is the folder's.
func (c *hosting) league(con *console, dir, game string) (_ *tournament.League, err error) {
	if err := c.check(); err != nil {
		return nil, program.Usage(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, tournament.SubmissionsDir), 0o755); err != nil {
		return nil, err
	}
	journal, err := tournament.OpenJournal(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = journal.Close()
		}
	}()
	was, entrants, err := journal.Kept()
	if game = cmp.Or(game, was); game == "" && err == nil {
		return nil, program.Usage(fmt.Errorf("%s is new: name its game, such as --game blockbattle", dir))
	}
	g, rules, settings, err := c.contest(game)
	if err != nil {
		return nil, program.Usage(err)
	}
	t := &tournament.Tournament{Journal: journal, Entrants: entrants,
		Config: tournament.Config{Format: tournament.Ongoing, Seats: 2, Games: 2, Rules: g}}
	text, err := c.setRunner(t, dir, rules, settings)
	if err == nil {
		_, err = inLeague(g, dir)
	}
	if err == nil {
		err = journal.Begin(&t.Config, text, t.Entrants)
	}
	if err != nil {
		return nil, program.Usage(err)
	}
	return &tournament.League{
		Tournament: t, Dir: dir,
		List: func() ([]*bots.Agent, error) { return inLeague(g, dir) },
		Ready: func(ctx context.Context, e *tournament.Entrant, all []*tournament.Entrant) error {
			return c.ready(ctx, t, dir, e, all, e.Tested())
		},
		Tell: func(format string, a ...any) {
			if !c.Quiet && !c.JSON {
				fmt.Fprintf(con.Err, format+"\n", a...)
			}
		},
	}, nil
}

// inLeague returns who is in the folder of a league: its submissions, and the agents and commands of its file.
func inLeague(g *env.Game, dir string) ([]*bots.Agent, error) {
	list, err := tournament.Submissions(g, filepath.Join(dir, tournament.SubmissionsDir))
	if err != nil {
		return nil, err
	}
	var file struct{ Agents []string }
	path := filepath.Join(dir, tournament.AgentsFile)
	made, err := toml.DecodeFile(path, &file)
	if errors.Is(err, os.ErrNotExist) {
		return list, nil
	}
	if err == nil && len(made.Undecoded()) > 0 {
		err = fmt.Errorf("unknown %v: want agents = [\"hand:ply=1\", \"me=./bot\"]", made.Undecoded()[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	named, err := contestants(g, file.Agents)
	for _, a := range named {
		if a.Kind == bots.Submission {
			return nil, fmt.Errorf("%s: %s is a submission: put it into %s", path, a.Spec, tournament.SubmissionsDir)
		}
		if _, err := a.Program(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return append(list, named...), nil
}
