package tetrisduellog

import (
	"slices"
	"strconv"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// bad derives the fault of a mover who made no placement from the answer.
func (g *game) bad(t *conform.Tally, answer string, list []env.Action) {
	p, tuple := parseTuple(answer)
	switch {
	case answer == "no legal placement":
		g.fault = "overflow"
	case answer == "exception":
		g.fault = "exception"
	case tuple && slices.Contains(list, p.Action()):
		g.fault = "timeout" // there was nothing else wrong with it
	default:
		g.fault = "illegal"
	}
	conform.Same(t, "there was no placement", g.fault == "overflow", len(list) == 0)
}

// parseTuple reads "(y, x, d)"; ok is false for anything else, "[y, x, d]" included.
func parseTuple(text string) (p tetrisduel.Placement, ok bool) {
	inner, open := strings.CutPrefix(text, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	parts := strings.Split(inner, ",")
	if !open || !closed || len(parts) != 3 {
		return p, false
	}
	var v []int
	for _, part := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return p, false
		}
		v = append(v, n)
	}
	p, err := parsePlacement(v)
	return p, err == nil
}

// end compares the end of a game. state is the original engine's text for it.
func end(t *conform.Tally, g *game, v conform.Values, r *struct{ State string }) error {
	s := &g.state
	reason, winner := g.fault, 2-s.Mover() // whoever is to move has lost
	switch {
	case s.Reason == tetrisduel.Limit:
		reason, winner = "limit", int(s.Winner)+1
	case reason == "":
		reason, winner = "none: the game is not over", 0
	}
	v.Given(t, "reason", reason, "winner", winner)
	if want, known := endings[r.State]; known {
		got := ending{reason: reason}
		if want.loser != 0 {
			got.loser = 3 - winner
		}
		conform.Same(t, "state", want, got)
	}
	v.Given(t,
		"s1", s.Score(0), "s2", s.Score(1), "turns", int(s.Turn), "maxcombo", g.stats.maxCombo,
		"steals", g.stats.steals, "overtakes", g.stats.overtakes)
	return nil
}

// An ending is our reason for the end of a game and the player who lost; 0 if the text names nobody.
type ending struct {
	reason string
	loser  int
}

// endings are the meanings of the original engine's texts for the end of a game.
var endings = map[string]ending{
	"round limit":  {"limit", 0},
	"judge to end": {"illegal", 0},
	"p1 overflow":  {"overflow", 1}, "p2 overflow": {"overflow", 2},
	"p1 error": {"exception", 1}, "p2 error": {"exception", 2},
	"p1 overtime": {"timeout", 1}, "p2 overtime": {"timeout", 2},
}
