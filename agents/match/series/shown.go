package series

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/dropblox"
	"blockyard/datasets/program"
	"blockyard/datasets/record"
)

// A Shown plays one game of a contest whose program is started for every turn, and prints what its own client prints.
type Shown struct {
	Program contest.Player
	Out     io.Writer
	Colour  bool
	Errors  io.Writer // gets the program's standard error
	Folders string    // folder for the game's history; "" keeps none
}

func (s *Shown) program() *dropblox.Program {
	return &dropblox.Program{Program: s.Program.Program, Name: s.Program.Name, Errors: s.Errors}
}

// Local plays a game on this machine. Its record goes to w, unless that is nil; kept is 1 if there is one.
func (s *Shown) Local(ctx context.Context, game dropblox.LocalGame, seed string, w *record.Writer) (
	kept int, err error) {
	game.Program, game.Console, game.ID, game.Seed, game.Folders = s.program(), s.console(), "0", seed, s.Folders
	r, recorder, err := game.Play(ctx)
	err = s.ended(r, err)
	if w == nil || recorder == nil {
		return 0, err
	}
	rec, e := recorder.End(r.Reason)
	if e == nil {
		e = w.Write(rec)
	}
	return 1, errors.Join(err, e)
}

// Remote plays a game at a server for the team of a file: a practice game, or the team's game of the next round.
func (s *Shown) Remote(ctx context.Context, url, mode, file string) error {
	team, err := dropblox.ReadConfig(file)
	if err != nil {
		return program.Usage(err)
	}
	server := dropblox.NewContest(url, team)
	var game *dropblox.Remote
	if mode == "practice" {
		game, err = server.Practice(ctx)
	} else {
		game, err = server.Compete(ctx, func() { fmt.Fprintln(s.Out, "waiting for the competition to begin") })
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(s.Out, "Game:", game.ID)
	meta := dropblox.Meta{ID: game.ID, Program: s.Program.Name, Team: team.Team, Mode: mode, Started: time.Now()}
	f, err := dropblox.CreateFolder(s.Folders, meta, nil)
	if err != nil {
		return err
	}
	p := dropblox.Player{Program: s.program(), Game: game, History: f, Console: s.console(), Margin: dropblox.Margin}
	return s.ended(p.Play(ctx))
}

func (s *Shown) console() *dropblox.Console { return &dropblox.Console{W: s.Out, Colour: s.Colour} }

func (s *Shown) ended(r dropblox.Result, err error) error {
	if r.Reason == dropblox.Stopped {
		return fmt.Errorf("stopped after %d turns with %d points", r.Turns, r.Score)
	}
	if err == nil {
		s.console().Results(r)
	}
	return err
}

// Seeds returns so many seeds from each of some on, which are whole numbers of any size; "" is a random one.
func Seeds(texts []string, count int) (seeds []string, err error) {
	for _, text := range texts {
		if text == "" && len(texts) == 1 {
			text = dropblox.RandomSeed()
		}
		n, ok := new(big.Int).SetString(strings.TrimSpace(text), 10)
		if !ok || n.BitLen() > 10_000 {
			return nil, fmt.Errorf("seed %.40q: want a whole number", text)
		}
		for range count {
			seeds = append(seeds, n.String())
			n.Add(n, big.NewInt(1))
		}
	}
	return seeds, nil
}
