package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"blockyard/agents/match"
	"blockyard/datasets/record"
	"blockyard/env/games"
)

// soloFlags are those of a game of one seat.
type soloFlags struct {
	Cap   int `aliases:"cap-lines,cap-score" help:"In a game of one seat: stop a game at this score; WinTetris scores lines. By default never."`
	Skip  int `help:"In a game of one seat: leave out so many of the match's seeds, to play a long match in pieces."`
	Steps int `help:"In a game of one seat: stop a game after so many choices. By default never."`
}

// A soloSummary is what a match in a game of one seat came to, as JSON. With two players
// wins, draws and losses count seeds by score, and the rest of the pair is about them.
type soloSummary struct {
	Game       string          `json:"game"`
	A          string          `json:"a"`
	B          string          `json:"b,omitempty"`
	Seed       uint64          `json:"seed"`
	Games      int             `json:"games"` // of each player
	Cap        int             `json:"cap,omitempty"`
	Steps      int             `json:"steps,omitempty"`
	Skip       int             `json:"skip,omitempty"`
	ALife      match.Life      `json:"a_life"`
	BLife      *match.Life     `json:"b_life,omitempty"`
	Wins       int             `json:"wins"`
	Draws      int             `json:"draws"`
	Losses     int             `json:"losses"`
	Score      float64         `json:"score"` // wins and half the draws, as a fraction
	Low        float64         `json:"low"`
	High       float64         `json:"high"`
	Difference *match.Estimate `json:"difference,omitempty"`
	Stopped    bool            `json:"stopped,omitempty"`
}

// oneSeat reports whether the game has one seat; a game that is not known has not.
func (c *arenaCmd) oneSeat() bool {
	g, err := games.Lookup(c.Game)
	return err == nil && g.MaxSeats == 1
}

// solo plays the match of a game of one seat that was asked for.
func (c *arenaCmd) solo(ctx context.Context, con *console) error {
	s, err := c.soloMatch()
	if err != nil {
		return usage{err}
	}
	save := func() error { return nil }
	if c.Record != "" {
		w, err := record.Create(c.Record)
		if err != nil {
			return err
		}
		defer w.Discard()
		s.Record, save = w.Write, w.Close
	}
	if !c.Quiet && terminal(con.err) {
		bar := newBar(con.err, s.Games, "games")
		s.Progress = func(r []match.Runs) {
			bar.Describe(fmt.Sprintf("mean %.0f", r[0].Life().Mean.Value))
			_ = bar.Set(len(r[0]))
		}
		defer func() { _ = bar.Finish() }()
	}
	runs, err := s.Play(ctx)
	played := len(runs[0])
	if err == nil || played > 0 {
		if e := save(); e != nil {
			return e
		}
	}
	if err != nil {
		return err
	}
	if played == 0 {
		return errors.New("no game was played to its end")
	}
	sum := c.summarise(runs, ctx.Err() != nil)
	if c.JSON {
		return json.NewEncoder(con.out).Encode(sum)
	}
	return sum.write(con.out)
}

// soloMatch is the match that was asked for.
func (c *arenaCmd) soloMatch() (match.Solo, error) {
	s := match.Solo{Games: c.Games, Seed: c.Seed, Workers: c.Workers, Cap: c.Cap, Steps: c.soloFlags.Steps, Skip: c.Skip}
	switch {
	case c.SPRT != "":
		return s, errors.New("--sprt is for two seats")
	case c.Seats > 1:
		return s, fmt.Errorf("--seats %d: the game is for one", c.Seats)
	case c.Games < 1 || c.Workers < 0 || c.Cap < 0 || c.Skip < 0 || s.Steps < 0:
		return s, errors.New("--games counts from 1, --cap, --skip, --steps and --workers from 0")
	}
	if s.Workers == 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	var err error
	if s.Rules, err = games.Lookup(c.Game); err != nil {
		return s, err
	}
	for _, text := range []string{c.A, c.B} {
		if text == "" {
			continue
		}
		p, err := player(s.Rules, text)
		if err != nil {
			return s, err
		}
		s.Players = append(s.Players, p)
	}
	return s, nil
}

func (c *arenaCmd) summarise(runs []match.Runs, stopped bool) *soloSummary {
	s := &soloSummary{
		Game: c.Game, A: c.A, B: c.B, Seed: c.Seed, Games: len(runs[0]), Cap: c.Cap, Steps: c.soloFlags.Steps, Skip: c.Skip,
		ALife: runs[0].Life(), Stopped: stopped,
	}
	if len(runs) < 2 {
		return s
	}
	life, v := runs[1].Life(), runs[0].Against(runs[1])
	s.BLife, s.Difference = &life, &v.Difference
	s.Wins, s.Draws, s.Losses = v.Wins, v.Draws, v.Losses
	s.Score, s.Low, s.High = v.Points.Value, v.Points.Low, v.Points.High
	return s
}

// write prints s for people.
func (s *soloSummary) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.Game, s.A)
	if s.B != "" {
		fmt.Fprintf(&b, " and %s, each alone", s.B)
	}
	fmt.Fprintf(&b, ", seed %d, %d games", s.Seed, s.Games)
	if s.Skip > 0 {
		fmt.Fprintf(&b, " after the first %d", s.Skip)
	}
	if s.Cap > 0 {
		fmt.Fprintf(&b, ", stopped at score %d", s.Cap)
	}
	if s.Steps > 0 {
		fmt.Fprintf(&b, ", stopped after %d choices", s.Steps)
	}
	b.WriteString("\n")
	if s.Stopped {
		b.WriteString("stopped early\n")
	}
	describe(&b, s.A, &s.ALife)
	if s.BLife != nil {
		describe(&b, s.B, s.BLife)
		fmt.Fprintf(&b, "by seed   %d wins, %d draws, %d losses of %s: score %.2f %%, 95 %% interval %.2f to %.2f\n",
			s.Wins, s.Draws, s.Losses, s.A, 100*s.Score, 100*s.Low, 100*s.High)
		fmt.Fprintf(&b, "          %+.1f score a seed, 95 %% interval %+.1f to %+.1f\n", s.Difference.Value, s.Difference.Low, s.Difference.High)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// describe prints what one player came to.
func describe(b *strings.Builder, name string, l *match.Life) {
	fmt.Fprintf(b, "%s\n", name)
	fmt.Fprintf(b, "  score     mean %.1f, 95 %% interval %.1f to %.1f; median %.1f, worst %d, best %d\n",
		l.Mean.Value, l.Mean.Low, l.Mean.High, l.Median, l.Worst, l.Best)
	fmt.Fprintf(b, "  games     %d ended, %d stopped; %d choices\n", l.Deaths, l.Stopped, l.Steps)
	if l.Deaths == 0 {
		fmt.Fprintf(b, "  per end   none in a score of %d: above %.0f at 95 %%\n", l.Total, l.PerDeath.Low)
		return
	}
	fmt.Fprintf(b, "  per end   score %.0f, 95 %% interval %.0f to %.0f, as if an end came at any time alike\n",
		l.PerDeath.Value, l.PerDeath.Low, l.PerDeath.High)
}
