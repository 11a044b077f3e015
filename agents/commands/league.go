package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/fleet/matches"
	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/datasets/program"
	"blockyard/env"
)

// A leagueCmd has the commands of "agents league".
type leagueCmd struct {
	Play   leaguePlayCmd   `cmd:"" default:"withargs" help:"Play games between all that are in the folder of a league."`
	Try    leagueTryCmd    `cmd:"" help:"Keep a candidate if it is stronger than what a league has."`
	Author leagueAuthorCmd `cmd:"" help:"Say who may upload to a league by its page."`
}

// A leagueAuthorCmd has the commands of "agents league author".
type leagueAuthorCmd struct {
	Add    authorAddCmd    `cmd:"" help:"Add an author and print the token, this once."`
	Remove authorRemoveCmd `cmd:"" help:"Make the token of an author invalid; bots stay."`
}

// An authorAddCmd has the flags of "agents league author add".
type authorAddCmd struct {
	Name string `arg:"" help:"Name of the author, of a to z, 0 to 9 and _."`
	Dir  string `default:"league" placeholder:"DIR" help:"Folder of the league."`
}

func (c *authorAddCmd) Run(con *console) error {
	token, err := tournament.AddAuthor(c.Dir, c.Name)
	if err == nil {
		fmt.Fprintln(con.Out, token)
	}
	return err
}

// An authorRemoveCmd has the flags of "agents league author remove".
type authorRemoveCmd struct{ authorAddCmd }

func (c *authorRemoveCmd) Run() error { return tournament.RemoveAuthor(c.Dir, c.Name) }

// uploadTime is how long an upload may take to arrive.
const uploadTime = 5 * time.Minute

// A leaguePlayCmd has the flags of "agents league GAME". Its Run plays until it is told to stop.
type leaguePlayCmd struct {
	Game    string        `arg:"" help:"Name of a game whose contest is between programs, such as blockbattle."`
	Dir     string        `default:"league" placeholder:"DIR" help:"Folder of the league, new or to continue."`
	Games   int           `placeholder:"N" help:"End after so many games, when all are tested. Default: never."`
	For     time.Duration `placeholder:"TIME" help:"End after this time, when the games in progress are over."`
	Bots    int           `name:"author-bots" default:"3" needs:"listen" help:"uploaded bots of an author."`
	Uploads int           `name:"author-uploads" default:"12" needs:"listen" help:"uploads of an author per hour."`
	paging
	hosting
	sharing
}

// A sharing has the flags by which workers play games of a league.
type sharing struct {
	Cluster broker.Flag `help:"${cluster_league}" placeholder:"NATS://HOST:PORT" group:"Many machines"`
	At      string      `name:"cluster-listen" needs:"cluster" help:"${listen}" group:"Many machines"`
	broker.ClientFlags
}

// share lets workers play for a league, if that is wanted. The caller must Close what it returns.
func (c *sharing) share(ctx context.Context, con *console, l *tournament.League, quiet bool) (*fleet.Session, error) {
	if !c.Cluster.On {
		return nil, nil
	}
	if bots.Of(l.Rules).Host.Open == nil {
		return nil, program.Usage(fmt.Errorf("--cluster: agents of %s are started for every turn, on this machine: "+
			"leave it out", l.Rules.Name))
	}
	if c.At != "" && c.Cluster.URL != "" {
		return nil, program.Usage(errors.New("--cluster-listen is of a broker in this process: leave it or the address " +
			"of --cluster out"))
	}
	f := matches.Flags{Dir: filepath.Join(l.Dir, "cluster"),
		Flags: broker.Flags{Cluster: c.Cluster, Listen: c.At, ClientFlags: c.ClientFlags}}
	s := &matches.Shared{Here: l.Runner, Agent: func(number int) (match.Player, bool) { return l.Entrants[number].Ours() }}
	session, err := f.Share(ctx, s, l.Rules, l.Workers, con.Err, logger(con, quiet))
	l.Runner, l.Workers = s, matches.MostShared
	l.Away = func(number int) bool { _, ours := l.Entrants[number].Ours(); return ours }
	return session, err
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

func (c *leaguePlayCmd) Run(ctx context.Context, con *console) (failed error) {
	if c.Games < 0 || c.For < 0 {
		return program.Usage(fmt.Errorf("--games %d, --for %v: want none below 0", c.Games, c.For))
	}
	if c.Bots < 1 || c.Uploads < 1 {
		return program.Usage(fmt.Errorf("--author-bots %d, --author-uploads %d: want at least 1", c.Bots, c.Uploads))
	}
	l, bar, err := c.league(con, c.Dir, c.Game)
	if err != nil {
		return err
	}
	defer l.Journal.Close()
	defer bar.Close()
	workers, err := c.share(ctx, con, l, c.Quiet || c.JSON)
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, workers.Close(true)) }()
	l.Uploads = c.Listen != ""
	uploads := &tournament.Uploads{League: l, Size: int64(c.MaxSize) << 20, Bots: c.Bots, Hourly: c.Uploads,
		Time: uploadTime}
	served, err := c.serve(ctx, con, uploads.Handler())
	if err != nil {
		return err
	}
	if l.Limit = c.Games; c.For > 0 {
		until, cancel := context.WithTimeout(context.Background(), c.For)
		defer cancel()
		l.Until = until.Done()
	}
	return served(c.plays(ctx, con, l.Tournament, c.Dir, bar, l.Play))
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
	l, bar, err := c.league(con, c.Dir, c.Game)
	if err != nil {
		return err
	}
	defer l.Journal.Close()
	defer bar.Close()
	l.Changed = pages(c.Dir, bar)
	l.Testing = func(t *tournament.Trial) { bar.Describe(t.Progress()) }
	result, err := l.Try(ctx, bots.Submitted(l.Rules, c.Candidate), c.Against, test, c.Games)
	if bar.Close(); err != nil {
		return err
	}
	return con.Print(c.JSON, result)
}

// league opens the league of a folder, which is begun if it is new. Without the name of a game, it is the folder's.
// The bar shows what happens.
func (c *hosting) league(con *console, dir, game string) (l *tournament.League, bar program.Bar, err error) {
	if err := c.check(); err != nil {
		return nil, bar, program.Usage(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, tournament.SubmissionsDir), 0o755); err != nil {
		return nil, bar, err
	}
	journal, err := tournament.OpenJournal(dir)
	if err != nil {
		return nil, bar, err
	}
	t := &tournament.Tournament{Journal: journal}
	if err = c.begin(t, dir, game); err != nil {
		return nil, bar, program.Usage(errors.Join(err, t.Journal.Close()))
	}
	t.Workers, bar = contest.Workers(c.Workers), c.bar(con)
	return &tournament.League{
		Tournament: t, Dir: dir, Here: t.Workers,
		List: func() ([]*bots.Agent, error) { return inLeague(t.Rules, dir) },
		Ready: func(ctx context.Context, e *tournament.Entrant, all []*tournament.Entrant) error {
			bar.Describef("%s is compiled and tested", e.Name)
			defer bar.Describe("")
			return c.ready(ctx, t, dir, e, all, e.Tested())
		},
		Tell: func(format string, a ...any) {
			if !c.Quiet && !c.JSON {
				bar.Line(format, a...)
			}
		},
	}, bar, nil
}

// begin begins a league, or goes on.
func (c *hosting) begin(t *tournament.Tournament, dir, game string) error {
	was, entrants, err := t.Journal.Kept()
	if err != nil {
		return err
	}
	if game = cmp.Or(game, was); game == "" {
		return fmt.Errorf("%s is new: name its game, such as --game blockbattle", dir)
	}
	g, rules, settings, err := c.contest(game)
	if err != nil {
		return err
	}
	if was != "" && was != g.Name {
		return fmt.Errorf("%s is of %s, not of %s: name another folder", dir, was, g.Name)
	}
	t.Config, t.Entrants = tournament.Config{Format: tournament.Ongoing, Seats: 2, Games: 2, Rules: g}, entrants
	text, err := c.setRunner(t, dir, rules, settings)
	_, wrong := inLeague(g, dir)
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	return t.Journal.Begin(&t.Config, text, t.Entrants)
}

// inLeague returns who is in the folder of a league: its submissions, and the agents and commands of its file.
func inLeague(g *env.Game, dir string) ([]*bots.Agent, error) {
	list, err := tournament.Submissions(g, filepath.Join(dir, tournament.SubmissionsDir))
	if err != nil {
		return nil, err
	}
	texts, err := tournament.AgentsOf(dir)
	if err != nil || texts == nil {
		return list, err
	}
	named, err := contestants(g, texts)
	names := map[string]bool{}
	for _, a := range named {
		if names[a.Name] {
			err = fmt.Errorf("two agents are named %s: give one another name, as in other=%s", a.Name, a.Spec)
		}
		if names[a.Name] = true; a.Kind == bots.Submission {
			err = fmt.Errorf("%s is a submission: put it into %s", a.Spec, tournament.SubmissionsDir)
		} else if _, wrong := a.Program(); wrong != nil {
			err = wrong
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, tournament.AgentsFile), err)
	}
	return append(list, named...), nil
}
