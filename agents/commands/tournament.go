package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/contest"
	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/env"
	"blockyard/env/games"
)

// A tournamentCmd has the flags of "agents tournament". Its Run compiles, tests and plays all entrants, and can be run
// again to continue.
type tournamentCmd struct {
	Game   string            `arg:"" help:"Name of a game whose contest is between programs, such as blockbattle."`
	Bots   []string          `arg:"" optional:"" help:"Entrants: agents (learned), commands, or submissions."`
	Dir    string            `placeholder:"DIR" type:"existingdir" help:"Folder of submissions, one file or folder each."`
	Out    string            `default:"tournament" placeholder:"DIR" help:"Folder of the tournament, new or to continue."`
	Format tournament.Format `enum:"round-robin,swiss" default:"round-robin" help:"round-robin or swiss."`
	Games  int               `default:"2" help:"Games of a meeting; the entrants change seats after each."`
	Rounds int               `needs:"format=swiss" placeholder:"N" help:"number of rounds; by default enough."`
	Finals int               `default:"6" help:"Games of each semi-final and of the final; 0 for no finals."`
	Seats  int               `placeholder:"N" help:"Entrants of a game of blocking, 2 to 4. Default: 2."`
	paging
	hosting
}

func (c *tournamentCmd) Run(ctx context.Context, con *console) error {
	t, settings, err := c.tournament()
	if err != nil {
		return program.Usage(err)
	}
	entries, err := c.entries(t.Rules)
	if err != nil {
		return program.Usage(err)
	}
	t.Entrants = tournament.Enter(entries)
	if t.Journal, err = tournament.OpenJournal(c.Out); err != nil {
		return err
	}
	defer t.Journal.Close()
	served, err := c.serve(ctx, con, tournament.Handler(c.Out))
	if err != nil {
		return err
	}
	if err := c.prepare(ctx, con, t); err != nil {
		return err
	}
	if err := t.Journal.Begin(&t.Config, settings, t.Entrants); err != nil {
		return err
	}
	return served(c.plays(ctx, con, t, c.Out, c.bar(con), t.Play))
}

// tournament is what the flags describe, with the settings of agents host as text.
func (c *tournamentCmd) tournament() (*tournament.Tournament, string, error) {
	g, rules, settings, err := c.contest(c.Game)
	if err != nil {
		return nil, "", err
	}
	if err := c.check(); err != nil {
		return nil, "", err
	}
	c.Seats = cmp.Or(c.Seats, 2)
	switch most := max(g.MaxSeats, 2); {
	case c.Games < 1:
		return nil, "", fmt.Errorf("--games %d: want at least 1", c.Games)
	case c.Rounds < 0 || c.Finals < 0:
		return nil, "", errors.New("--rounds and --finals are not negative")
	case c.Seats < 2 || c.Seats > most:
		return nil, "", fmt.Errorf("--seats %d: a game of %s has 2 to %d", c.Seats, g.Name, most)
	}
	t := &tournament.Tournament{Config: tournament.Config{Format: c.Format, Seats: c.Seats, Games: c.Games,
		Rounds: c.Rounds, Finals: c.Finals, Rules: g}}
	text, err := c.setRunner(t, c.Out, rules, settings)
	return t, text, err
}

func (c *tournamentCmd) entries(g *env.Game) (list []*bots.Agent, err error) {
	if c.Dir != "" {
		list, err = tournament.Submissions(g, c.Dir)
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("%s holds no submissions: want archives, source files or folders", c.Dir)
		}
		if err != nil {
			return nil, err
		}
	}
	named, err := contestants(g, c.Bots)
	if err != nil {
		return nil, err
	}
	for _, a := range named {
		if _, err := a.Program(); err != nil && a.Kind != bots.Submission {
			return nil, err
		}
	}
	list = append(list, named...)
	if len(list) < 2 {
		return nil, fmt.Errorf("%d entrants, want at least two: agents, commands or submissions, or --dir", len(list))
	}
	return list, nil
}

// prepare compiles and tests the entrants, and says on the page how far that is.
// What the test of a tournament that goes on has found is kept.
func (c *tournamentCmd) prepare(ctx context.Context, con *console, t *tournament.Tournament) error {
	bar := con.Progress(c.Quiet || c.JSON, len(t.Entrants), "entrants")
	defer bar.Close()
	tested := t.Journal.Tested()
	prepare := func(ctx context.Context, k int) (string, error) {
		return t.Entrants[k].Name, c.ready(ctx, t, c.Out, t.Entrants[k], t.Entrants, tested)
	}
	done := 0
	show := func() error {
		if tested {
			return nil // the page has the games
		}
		t.Testing = fmt.Sprintf("%d of %d entrants are compiled and tested", done, len(t.Entrants))
		return t.WritePage(c.Out)
	}
	if err := show(); err != nil {
		return err
	}
	t.Workers = contest.Workers(c.Workers)
	for name, err := range match.InOrder(ctx, t.Workers, len(t.Entrants), prepare) {
		if done++; err == nil {
			bar.Show(done, name)
			err = show()
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// A ladderCmd has the flags of "agents ladder". Its Run plays every two agents and rates all of them.
type ladderCmd struct {
	Game    string   `arg:"" help:"Name of the game, such as blockbattle."`
	Players []string `arg:"" optional:"" name:"agents" help:"Agents, such as random hand:ply=1 learned."`
	Bot     []string `placeholder:"CMD" sep:"none" help:"Also a program that speaks the contest's protocol; repeatable."`
	Games   int      `default:"40" help:"Games of every two agents, even; in a game of one seat, of every agent."`
	Seed    uint64   `default:"1" help:"Seed of the whole ladder."`
	Out     string   `placeholder:"DIR" help:"Folder of the ladder, new or to continue. Default: runs/ladder-GAME."`
	Workers int      `placeholder:"N" help:"Games at once; the result does not depend on it. Default: one per core."`
	Cap     int      `placeholder:"N" help:"In a game of one seat: stop a game at this score."`
	Steps   int      `placeholder:"N" help:"In a game of one seat: stop a game after this many actions."`
	JSON    bool     `name:"json" help:"Print one line of JSON and nothing else; agents/JSON.md describes it."`
	Quiet   bool     `short:"q" help:"Print no progress bar."`
}

const ladderReport, ladderPicture = "ladder.json", "ladder.svg"

func (c *ladderCmd) Run(ctx context.Context, con *console) error {
	t, err := c.ladder()
	if err != nil {
		return program.Usage(err)
	}
	list, forget, err := players(ctx, t.Rules, append(c.Players, c.Bot...)...)
	defer forget()
	if err != nil {
		return program.Usage(err)
	}
	for _, p := range list {
		t.Entrants = append(t.Entrants, &tournament.Entrant{Name: p.Name, Fingerprint: cmp.Or(p.Spec, p.Name)})
	}
	if len(list) < 2 {
		return program.Usage(fmt.Errorf("a ladder of %d agents, want at least two", len(list)))
	}
	t.Runner = &match.Agents{Match: match.Match{Rules: t.Rules, Players: list, Cap: c.Cap, Steps: c.Steps}}
	made := program.Begin("agents", strconv.FormatUint(c.Seed, 10))
	if t.Journal, err = tournament.OpenJournal(c.Out); err != nil {
		return program.Usage(err)
	}
	defer t.Journal.Close()
	if err := t.Journal.Begin(&t.Config, fmt.Sprintf("--cap %d --steps %d", c.Cap, c.Steps), t.Entrants); err != nil {
		return program.Usage(err)
	}
	if err := made.Open(c.Out); err != nil {
		return err
	}
	bar := con.Progress(c.Quiet || c.JSON, -1, "games")
	t.Changed = func(t *tournament.Tournament) error {
		bar.ChangeMax(t.Expected)
		bar.Set(len(t.Played))
		return nil
	}
	err = match.IgnoreStop(ctx, t.Play(ctx))
	bar.Close()
	report := t.Report().Report
	report.Limit(map[string]int{"cap": c.Cap, "steps": c.Steps})
	return errors.Join(err, disk.WriteJSON(filepath.Join(c.Out, ladderReport), report),
		disk.Write(filepath.Join(c.Out, ladderPicture), 0o644, report.Draw), made.Close(c.Out), con.Print(c.JSON, report))
}

// ladder is the ladder that the flags describe, without its agents.
func (c *ladderCmd) ladder() (*tournament.Tournament, error) {
	g, err := games.Open(c.Game)
	if err != nil {
		return nil, err
	}
	seats := min(2, g.MaxSeats)
	switch {
	case c.Games < 1 || c.Games%seats != 0:
		return nil, fmt.Errorf("--games %d: want at least 1, and an even number unless the game has one seat", c.Games)
	case c.Workers < 0 || c.Cap < 0 || c.Steps < 0:
		return nil, fmt.Errorf("--workers %d, --cap %d, --steps %d: want none below 0", c.Workers, c.Cap, c.Steps)
	case seats == 2 && (c.Cap != 0 || c.Steps != 0):
		return nil, fmt.Errorf("--cap and --steps are for games of one seat, %s has more", g.Name)
	case g.MinSeats > 2:
		return nil, fmt.Errorf("%s has no game of two seats", g.Name)
	}
	c.Out = cmp.Or(c.Out, filepath.Join("runs", "ladder-"+strings.NewReplacer(":", "-", "/", "-").Replace(g.Name)))
	return &tournament.Tournament{Config: tournament.Config{
		Rules: g, Format: tournament.Ladder, Seed: c.Seed, Seats: seats, Games: seats,
		Workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0)), Repeats: c.Games / seats,
	}}, nil
}
