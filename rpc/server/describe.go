package server

import (
	"strings"

	"blockyard/env"
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
		"globals", globalFacts(g), "opponents", s.srv.c.Opponents(g), "max_episode_steps", 0,
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
