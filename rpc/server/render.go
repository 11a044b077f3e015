package server

import (
	"strconv"
	"strings"

	"blockyard/env"
	"blockyard/rpc/wire"
)

func (s *session) render(f *wire.Frame) error {
	h, err := s.handle(f)
	if err != nil {
		return err
	}
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
		return s.reply(f.ID, ansi(&frame))
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
	return wire.Fields{{Name: "boards", Value: boardFields(frame.Boards)}, {Name: "notes", Value: notes}, {Name: "trays", Value: trays}}
}

func boardFields(list []env.Board) []map[string]any {
	boards := []map[string]any{}
	for i := range list {
		b := &list[i]
		boards = append(boards, map[string]any{"name": b.Name, "w": b.W, "h": b.H, "cells": b.Cells, "ink": b.Ink})
	}
	return boards
}

// palette gives each ink a colour of a terminal with 256.
var palette = [16]int{0, 51, 21, 208, 226, 46, 201, 196, 250, 240, 33, 213, 118, 220, 99, 15}

// ansi paints a frame for a terminal, two columns a cell.
func ansi(frame *env.Frame) string {
	var out strings.Builder
	rows := 0
	for _, b := range frame.Boards {
		rows = max(rows, b.H)
	}
	for y := -1; y < rows; y++ {
		for i := range frame.Boards {
			b := &frame.Boards[i]
			switch {
			case y < 0:
				out.WriteString(b.Name + strings.Repeat(" ", max(0, 2*b.W-len(b.Name))))
			case y >= b.H:
				out.WriteString(strings.Repeat(" ", 2*b.W))
			default:
				ansiRow(&out, b, y)
			}
			out.WriteString("   ")
		}
		out.WriteByte('\n')
	}
	for _, n := range frame.Notes {
		out.WriteString(n + "\n")
	}
	return out.String()
}

func ansiRow(out *strings.Builder, b *env.Board, y int) {
	for x := range b.W {
		glyph, ink := b.Cells[y*b.W+x], b.Ink[y*b.W+x]
		if ink == 0 {
			out.WriteString(string(glyph) + " ")
			continue
		}
		out.WriteString("\x1b[7;38;5;" + strconv.Itoa(palette[ink&15]) + "m" + string(glyph) + " \x1b[0m")
	}
}
