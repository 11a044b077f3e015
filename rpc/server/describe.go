package server

import (
	"strings"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/ansi"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
)

func (s *session) games(f *wire.Frame) error {
	list := []map[string]any{}
	for _, g := range s.srv.c.Games {
		list = append(list, map[string]any{"name": g.Name, "id": g.ID, "rules": g.Rules})
	}
	return s.reply(f.ID, list)
}

func (s *session) describe(f *wire.Frame) error {
	g, err := s.gameParam(f)
	if err != nil {
		return err
	}
	return s.reply(f.ID, wire.Fields{
		"name", g.Name, "id", g.ID, "rules", g.Rules, "variants", s.srv.variants(g),
		"seats", [2]int{g.MinSeats, g.MaxSeats}, "rows", g.Rows, "turn", turn(g), "actions", g.Actions,
		"max_legal", g.MaxLegal, "mask_len", g.MaskLen(), "no_action", int(env.None), "planes", map[string]any{
			"shape": [3]int{g.Planes.C, g.Planes.H, g.Planes.W}, "dtype": "|u1", "low": 0, "high": int(g.PlaneMax),
			"names": g.PlaneNames, "bits": g.CellBits(),
		},
		"globals", globalFacts(g), "opponents", s.srv.c.Opponents(g), "reward", vec.DefaultReward(g).String(),
		"max_episode_steps", 0,
	})
}

// globalFacts describes the globals of an observation, with their ranges if known.
func globalFacts(g *env.Game) map[string]any {
	facts := map[string]any{"shape": [1]int{g.Globals()}, "dtype": "<f4", "names": g.GlobalNames}
	if g.GlobalRanges != nil {
		low, high := make([]float32, g.Globals()), make([]float32, g.Globals())
		for k, r := range g.GlobalRanges {
			low[k], high[k] = r.Low, r.High
		}
		facts["low"], facts["high"] = low, high
	}
	return facts
}

// turn classifies g as single-player, alternating or simultaneous.
func turn(g *env.Game) string {
	switch {
	case g.MaxSeats == 1:
		return "single"
	case g.Rows == 1:
		return "alternating"
	}
	return "simultaneous"
}

// variants lists the names of the other variants of g's contest.
func (s *Server) variants(g *env.Game) []string {
	family := func(g *env.Game) string { name, _, _ := strings.Cut(g.Name, ":"); return name }
	names := []string{}
	for _, other := range s.c.Games {
		if other != g && family(other) == family(g) {
			names = append(names, other.Name)
		}
	}
	return names
}

func (s *session) render(f *wire.Frame, h *handle) error {
	i, err := f.Int(1, "game", 0, int64(h.c.Envs-1))
	if err != nil {
		return err
	}
	o := struct {
		Mode string `msgpack:"mode"`
	}{Mode: "text"}
	if err := f.Options(2, &o); err != nil {
		return err
	}
	if err := h.awake("render"); err != nil {
		return err
	}
	var frame env.Frame
	h.env.State(int(i)).Show(&frame)
	switch o.Mode {
	case "text":
		return s.reply(f.ID, frame.String())
	case "ansi":
		return s.reply(f.ID, ansi.Frame(&frame))
	case "frame":
		return s.reply(f.ID, frameFields(&frame))
	}
	return wire.Errorf(wire.BadParams, `render: mode is %.32q, want "text", "ansi" or "frame"`, o.Mode)
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

// featuresOf returns the features of g, or refuses the request.
func (s *Server) featuresOf(g *env.Game, method string) (*features.Set, error) {
	if have := s.c.Features(g); have != nil {
		return have, nil
	}
	return nil, wire.Errorf(wire.BadParams, "%s: %s defines no features", method, g.Name).With("game", g.Name)
}

// featureNames replies with what a file of weights for a game says in its metadata.
func (s *session) featureNames(f *wire.Frame) error {
	g, err := s.gameParam(f)
	if err != nil {
		return err
	}
	have, err := s.srv.featuresOf(g, "feature_names")
	if err != nil {
		return err
	}
	return s.reply(f.ID, wire.Fields{"game", entry.Base(g), "rules", g.Rules, "features", have.Names, "own", have.Own})
}

// features replies with the features of afterstates instead of their observations. Those that end the
// game, and rows that need not act, have none: they remain zeros.
func (s *session) features(f *wire.Frame, h *handle) error {
	have, err := s.srv.featuresOf(h.game, "features")
	if err != nil {
		return err
	}
	n := len(have.Names)
	a, err := s.newAfters(f, h, 4*n)
	if err != nil {
		return err
	}
	rows := make([]float32, len(a.actions)*n)
	var readers []features.Reader // by worker
	for range h.c.Workers {
		readers = append(readers, have.New())
	}
	err = a.each(func(after *afterstate) {
		if after.idle || a.done[after.at] != 0 {
			return
		}
		row, reader := rows[after.at*n:(after.at+1)*n], readers[after.worker]
		if after.alike >= 0 {
			copy(row[have.Own:], rows[after.alike*n+have.Own:(after.alike+1)*n])
		} else {
			reader.Shared(after.State, after.seat, row[have.Own:])
		}
		reader.Own(after.State, after.seat, row[:have.Own])
	})
	if err != nil {
		return err
	}
	return s.reply(f.ID, a.fields("features", bytesOf(rows)))
}
