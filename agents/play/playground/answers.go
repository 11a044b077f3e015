// Command playground makes web pages that need no server, on which people play against the agent "learned", watch
// records and analyse them. Built for js/wasm, it is the program in the pages that answers their requests. Built for
// anything else, it writes the folder of the pages; see "make playground".
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/agents/play/analyst"
	"blockyard/agents/play/webplay"
	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/record"
	"blockyard/datasets/viewer"
	"blockyard/env"
	"blockyard/env/games"
)

// opponent is the agent of every seat but the first.
const opponent = "learned"

// A hall answers one page: a table, and the records that a person has opened. One request begins at a time.
type hall struct {
	ask.Answers
	library *viewer.Library
	analyst *analyst.Analyst
	leave   context.CancelFunc // ends the games of the table
	last    bytes.Buffer       // the record of the last game
}

func newHall() (*hall, error) {
	library, err := viewer.NewLibrary(nil)
	h := &hall{library: library, analyst: new(analyst.Analyst), leave: func() {}}
	h.Answers = viewer.Answers(library, h.analyst)
	h.Answers["POST /api/play"] = h.play
	h.Answers["POST /api/records"] = h.open
	h.Answers["GET /api/record"] = func(context.Context, *ask.Request) ([]byte, error) { return ask.JSON(h.last.String()) }
	return h, err
}

func (h *hall) play(_ context.Context, r *ask.Request) ([]byte, error) {
	var order struct {
		Game string `json:"game"`
		Seed uint64 `json:"seed"`
	}
	if err := json.Unmarshal(r.Body, &order); err != nil {
		return nil, ask.Bad("body: %w", err)
	}
	g, err := games.Lookup(order.Game)
	if err != nil {
		return nil, ask.Status(ask.NotFound, err)
	}
	factory, err := bots.New(g, bots.Foreign(opponent, nil))
	if err != nil {
		return nil, err
	}
	t := &webplay.Table{Rules: g, Seed: order.Seed, Persons: 1, Analyst: h.analyst, Record: h.keep}
	t.Names = slices.Repeat([]string{opponent}, g.MinSeats)
	t.Names[0] = bots.Person
	makers := slices.Repeat([]bots.Factory{factory}, g.MinSeats)
	makers[0] = nil
	t.Agents = func(seed uint64) ([]env.Agent, error) { return match.Seated(makers, t.Names, seed) }
	h.leave()
	ctx, leave := context.WithCancel(context.Background())
	h.leave = leave
	maps.Copy(h.Answers, t.Answers())
	go func() { _ = t.Run(ctx) }() // keep fails at nothing
	return ask.JSON(struct{}{})
}

func (h *hall) keep(rec *record.Record) error {
	h.last.Reset()
	w := record.NewWriter(&h.last)
	return errors.Join(w.Write(rec), w.Close())
}

// open adds the games of a file of records, which is the body, to those that can be watched.
func (h *hall) open(_ context.Context, r *ask.Request) ([]byte, error) {
	n, err := h.library.Add(r.Get("name"), r.Body)
	if err == nil && n == 0 {
		err = fmt.Errorf("%s has no game: want a file of records, as pages to play and --record write it", r.Get("name"))
	}
	if err != nil {
		return nil, err
	}
	return ask.JSON(n)
}
