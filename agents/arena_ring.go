package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"blockyard/agents/match"
	"blockyard/datasets/record"
)

// A ringSummary is what a match for more than two seats came to, as JSON.
type ringSummary struct {
	Game        string  `json:"game"`
	A           string  `json:"a"`
	B           string  `json:"b"`
	Seats       int     `json:"seats"`
	Seed        uint64  `json:"seed"`
	Sets        int     `json:"sets"`
	Games       int     `json:"games"`
	First       int     `json:"first"`
	Rank        float64 `json:"mean_rank"`
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	OthersRank  float64 `json:"others_mean_rank"`
	Score       float64 `json:"mean_points"`
	OthersScore float64 `json:"others_mean_points"`
	Stopped     bool    `json:"stopped,omitempty"`
}

// ring plays the match for more than two seats that was asked for.
func (c *arenaCmd) ring(ctx context.Context, con *console) error {
	if c.SPRT != "" {
		return usage{errors.New("--sprt is for two seats")}
	}
	if c.Games < c.Seats || c.Games%c.Seats != 0 {
		return usage{fmt.Errorf("--games %d: games come in sets in which A has every seat once: want a multiple of %d", c.Games, c.Seats)}
	}
	two := *c
	two.Games = 2
	t, err := two.table()
	if err != nil {
		return usage{err}
	}
	if c.Seats < t.Rules.MinSeats || c.Seats > t.Rules.MaxSeats {
		return usage{fmt.Errorf("--seats %d: %s is for %d to %d", c.Seats, t.Rules.Name, t.Rules.MinSeats, t.Rules.MaxSeats)}
	}
	r := match.Ring{Rules: t.Rules, A: t.A, B: t.B, Seats: c.Seats, Sets: c.Games / c.Seats, Seed: c.Seed, Workers: t.Workers}
	save := func() error { return nil }
	if c.Record != "" {
		w, err := record.Create(c.Record)
		if err != nil {
			return err
		}
		defer w.Discard()
		r.Record, save = w.Write, w.Close
	}
	if !c.Quiet && terminal(con.err) {
		bar := newBar(con.err, c.Games, "games")
		r.Progress = func(n int) { _ = bar.Set(n) }
		defer func() { _ = bar.Finish() }()
	}
	res, err := r.Play(ctx)
	if err == nil || res.Games > 0 {
		if e := save(); e != nil {
			return e
		}
	}
	if err != nil {
		return err
	}
	s := ringSummary{
		Game: r.Rules.Name, A: r.A.Name, B: r.B.Name, Seats: r.Seats, Seed: r.Seed,
		Sets: res.Sets, Games: res.Games, First: res.First, Rank: res.Rank, Low: res.Low, High: res.High,
		OthersRank: res.OthersRank, Score: res.Score, OthersScore: res.OthersScore, Stopped: ctx.Err() != nil,
	}
	if c.JSON {
		return json.NewEncoder(con.out).Encode(s)
	}
	return s.write(con.out)
}

// write prints s for people.
func (s *ringSummary) write(w io.Writer) error {
	stopped := ""
	if s.Stopped {
		stopped = "stopped early\n"
	}
	_, err := fmt.Fprintf(w, `%s for %d: one %s among %s, seed %d
%sgames   %d in %d sets, first in %d
rank    %.3f, 95 %% interval %.3f to %.3f; the others %.3f
points  %.2f; the others %.2f
`, s.Game, s.Seats, s.A, s.B, s.Seed, stopped, s.Games, s.Sets, s.First, s.Rank, s.Low, s.High, s.OthersRank, s.Score, s.OthersScore)
	return err
}
