package server

import (
	"blockyard/env"
	"blockyard/env/ansi"
	"blockyard/rpc/wire"
)

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
