package server

import (
	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/ansi"
	"blockyard/rpc/server/batch"
	"blockyard/rpc/server/memory"
	"blockyard/rpc/wire"
)

// legalRows counts the legal actions of the rows of the games that param 1 selects: of as many as fit into a response
// of size bytes per action.
func (s *session) legalRows(f *wire.Frame, h *handle, size int) (*batch.Rows, error) {
	list, err := h.begunGames(f)
	if err != nil {
		return nil, err
	}
	l := h.Legal(list, size, s.srv.ledger.Room())
	if len(l.Games) == 0 && len(list) > 0 {
		return nil, s.srv.ledger.Fits(h.Env.Rows()*(h.Game.MaxLegal*size+4) + 4)
	}
	return l, nil
}

func (s *session) legal(f *wire.Frame, h *handle) error {
	l, err := s.legalRows(f, h, 2)
	if err != nil {
		return err
	}
	if err := s.reserve(2*l.Total() + 4*len(l.Indptr)); err != nil {
		return err
	}
	l.Fill()
	return s.reply(f.ID, wire.Fields{"count", len(l.Games), "indptr", memory.Bytes(l.Indptr),
		"actions", memory.Bytes(l.Actions)})
}

// afterRows reads a request for afterstates whose response has size bytes for each besides actions and rewards.
func (s *session) afterRows(f *wire.Frame, h *handle, size int) (l *batch.Rows, seed uint64, err error) {
	size += batch.AfterLen
	if l, err = s.legalRows(f, h, size); err != nil {
		return nil, 0, err
	}
	o := struct {
		Seed wire.Natural `msgpack:"seed"`
	}{wire.Natural(h.NextSeed())}
	if err := f.Options(2, &o); err != nil {
		return nil, 0, err
	}
	return l, uint64(o.Seed), s.reserve(l.Total()*size + 4*len(l.Indptr))
}

// replyAfter responds with the actions, their rewards, and the entries of more between these.
func (s *session) replyAfter(f *wire.Frame, l *batch.Rows, more ...any) error {
	head := wire.Fields{"count", len(l.Games), "indptr", memory.Bytes(l.Indptr), "actions", memory.Bytes(l.Actions)}
	return s.reply(f.ID, append(append(head, more...), "reward", memory.Bytes(l.Reward), "done", l.Done))
}

// afterstates returns, for every legal action of every row, what the row's seat observes after it.
func (s *session) afterstates(f *wire.Frame, h *handle) error {
	l, seed, err := s.afterRows(f, h, h.Game.Planes.Len()+4*h.Game.Globals())
	if err != nil {
		return err
	}
	planes, globals, err := l.Observe(seed)
	if err != nil {
		return err
	}
	return s.replyAfter(f, l, "planes", planes, "globals", memory.Bytes(globals))
}

// featuresOf returns the features of g, or refuses the request.
func (s *Server) featuresOf(g *env.Game, method string) (*features.Set, error) {
	if have := s.c.Features(g); have != nil {
		return have, nil
	}
	return nil, badParams("%s: %s defines no features", method, g.Name).With("game", g.Name)
}

// featureNames replies with what a file of weights for a game says in its metadata.
func (s *session) featureNames(f *wire.Frame, g *env.Game) error {
	have, err := s.srv.featuresOf(g, "feature_names")
	if err != nil {
		return err
	}
	return s.reply(f.ID, wire.Fields{"game", entry.Base(g), "rules", g.Rules, "features", have.Names, "own", have.Own})
}

// features replies with the features of afterstates instead of their observations.
func (s *session) features(f *wire.Frame, h *handle) error {
	have, err := s.srv.featuresOf(h.Game, "features")
	if err != nil {
		return err
	}
	l, seed, err := s.afterRows(f, h, 4*len(have.Names))
	if err != nil {
		return err
	}
	rows, err := l.Features(seed, have)
	if err != nil {
		return err
	}
	return s.replyAfter(f, l, "features", memory.Bytes(rows))
}

func (s *session) observe(f *wire.Frame, h *handle) error {
	list, err := s.fitting(f, h, h.Config.Seats*(h.Game.Planes.Len()+4*h.Game.Globals()))
	if err != nil {
		return err
	}
	planes, globals := h.Observe(list)
	return s.reply(f.ID, wire.Fields{"count", len(list), "planes", planes, "globals", memory.Bytes(globals)})
}

func (s *session) render(f *wire.Frame, h *handle) error {
	i := f.Int(1, "game", 0, int64(h.Config.Envs-1))
	o := struct {
		Mode string `msgpack:"mode"`
	}{Mode: "text"}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	if err := h.Awake("render"); err != nil {
		return err
	}
	var frame env.Frame
	h.Env.State(int(i)).Show(&frame)
	switch o.Mode {
	case "text":
		return s.reply(f.ID, frame.String())
	case "ansi":
		return s.reply(f.ID, ansi.Frame(&frame))
	case "frame":
		return s.reply(f.ID, frameFields(&frame))
	}
	return badParams(`render: mode is %.32q, want "text", "ansi" or "frame"`, o.Mode)
}

func frameFields(frame *env.Frame) wire.Fields {
	notes, trays := frame.Notes, []map[string]any{}
	if notes == nil {
		notes = []string{}
	}
	for _, t := range frame.Trays {
		trays = append(trays, map[string]any{"name": t.Name, "seat": t.Seat, "pieces": boardFields(t.Pieces)})
	}
	return wire.Fields{"boards", boardFields(frame.Boards), "notes", notes, "trays", trays}
}

func boardFields(list []env.Board) []map[string]any {
	boards := []map[string]any{}
	for i := range list {
		b := &list[i]
		boards = append(boards, map[string]any{"name": b.Name, "w": b.W, "h": b.H, "cells": b.Glyphs(), "ink": b.Inks()})
	}
	return boards
}
