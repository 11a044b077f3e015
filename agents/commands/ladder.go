package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"blockyard/agents/match/ladder"
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

// Run plays the ladder and prints the table.
func (c *ladderCmd) Run(ctx context.Context, con *console) error {
	l, err := c.ladder()
	if err != nil {
		return program.Usage(err)
	}
	var forget func()
	l.Players, forget, err = players(ctx, l.Rules, append(c.Players, c.Bot...)...)
	defer forget()
	if err != nil {
		return program.Usage(err)
	}
	made := program.Begin("agents", strconv.FormatUint(c.Seed, 10))
	j, err := l.Open(c.Out)
	if err != nil {
		return program.Usage(err)
	}
	if err := made.Open(c.Out); err != nil {
		return errors.Join(err, j.Close())
	}
	bar := con.Progress(c.Quiet || c.JSON, l.Expected(), "games")
	l.Progress = bar.Show
	err = l.Play(ctx, j)
	bar.Close()
	report := l.Report()
	return errors.Join(err, c.write(report), made.Close(c.Out), j.Close(), con.Print(c.JSON, report))
}

// ladder is the ladder that the flags describe, without its agents.
func (c *ladderCmd) ladder() (*ladder.Ladder, error) {
	g, err := games.Open(c.Game)
	if err != nil {
		return nil, err
	}
	l := &ladder.Ladder{Rules: g, Units: c.Games, Seed: c.Seed, Cap: c.Cap, Steps: c.Steps, Workers: c.Workers}
	if g.MaxSeats > 1 {
		l.Units = c.Games / 2
	}
	switch {
	case c.Games < 1 || g.MaxSeats > 1 && c.Games%2 != 0:
		return nil, fmt.Errorf("--games %d: want at least 1, and an even number unless the game has one seat", c.Games)
	case c.Workers < 0 || c.Cap < 0 || c.Steps < 0:
		return nil, fmt.Errorf("--workers %d, --cap %d, --steps %d: want none below 0", c.Workers, c.Cap, c.Steps)
	}
	if c.Workers == 0 {
		l.Workers = runtime.GOMAXPROCS(0)
	}
	if c.Out == "" {
		c.Out = filepath.Join("runs", "ladder-"+strings.NewReplacer(":", "-", "/", "-").Replace(g.Name))
	}
	return l, nil
}

// write writes the report and its picture to the folder.
func (c *ladderCmd) write(r *ladder.Report) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		disk.WriteText(filepath.Join(c.Out, ladder.ReportFile), 0o644, string(text)+"\n"),
		disk.Write(filepath.Join(c.Out, ladder.PictureFile), 0o644, func(w io.Writer) error { return r.Draw(w) }),
	)
}
