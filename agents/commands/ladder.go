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

	"blockyard/agents/match"
	"blockyard/agents/match/tournament"
	"blockyard/datasets/program"
	"blockyard/datasets/program/disk"
	"blockyard/env/games"
)

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
		t.Entrants = append(t.Entrants, &tournament.Entrant{Name: p.Name, Print: cmp.Or(p.Spec, p.Name)})
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
	bar := con.Progress(c.Quiet || c.JSON, 0, "games")
	t.Changed = func(t *tournament.Tournament) error {
		bar.ChangeMax(t.Expected)
		bar.Set(len(t.Played))
		return nil
	}
	if err = t.Play(ctx); ctx.Err() != nil && match.Stopped(err) {
		err = nil
	}
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
		Workers: cmp.Or(c.Workers, runtime.GOMAXPROCS(0)), Rounds: c.Games / seats,
	}}, nil
}
