package dropbloxlog

import (
	"fmt"

	"blockyard/datasets/conform"
	"blockyard/env/dropblox"
)

// A gameRecord is the line that opens a game: its seed and, in training, its points at the start.
type gameRecord struct {
	Seed  seed `json:"seed"`
	Start *int `json:"start_score"`
}

// A game is the state of the game that is being replayed, and what the original engine counted in it.
type game struct {
	id     string
	state  dropblox.State
	totals totals
}

// totals count the outcomes of a game's commands, and its cleared rows.
type totals struct {
	Illegal        int `json:"illegal"`
	Legal          int `json:"legal"`
	IllegalRotates int `json:"rot_illegal"`
	Rows           int `json:"rows"`
	Unknown        int `json:"unknown"`
	Ups            int `json:"up"`
}

func begin(t *conform.Tally, g *game, v conform.Values, r *gameRecord) {
	g.id = v.ID()
	conform.Valid(g.state.ResetSeed(string(r.Seed)))
	t.At("start")
	draws := g.state.Draws(nil)
	v.Given(t, "block", int(draws[0]), "discarded", int(draws[1]))
	var preview [dropblox.Preview]int
	for k := range preview {
		preview[k] = int(g.state.Blocks[1+k])
	}
	v.Given(t, "preview", preview)
	if r.Start != nil {
		if *r.Start < 0 || *r.Start > 1<<20 {
			conform.Malformed("start_score %d, want 0 to %d", *r.Start, 1<<20)
		}
		g.state.Points = int32(*r.Start)
	}
}

// compare plays the turn on s and compares all but the board.
func compare(t *conform.Tally, v conform.Values, s *dropblox.State, commands []string) dropblox.Played {
	b := s.Block(0)
	v.Given(t, "type", int(b.Type), "at", point(b.Center), "offsets", offsets(&b))
	p := s.Turn(commands...)
	v.Given(t,
		"applied", p.Applied, "pre", point(p.Moved.Center), "pre_offsets", offsets(&p.Moved),
		"fall", p.Fall, "state", status(s), "next", int(s.Blocks[0]))
	return p
}

// A turnRecord is the inputs of a turn: the commands that were executed, and the board without its empty rows.
type turnRecord struct {
	Commands []string `json:"cmds"`
	Stack    [][]int  `json:"stack"`
}

func turn(t *conform.Tally, g *game, v conform.Values, r *turnRecord) {
	s := &g.state
	n := int(s.Turns)
	t.At("turn %d", n)
	t.Note(fmt.Sprintf("commands: %q", r.Commands))
	conform.Same(t, "id", v.ID(), g.id)
	v.Given(t, "t", n)
	if s.Failed {
		conform.Same(t, "state before the turn", "playing", "failed")
		return
	}
	p := compare(t, v, s, r.Commands)
	g.totals.count(r.Commands, p.Applied)
	g.totals.Rows += p.Rows
	v.Given(t, "cleared", p.Rows, "score", int(s.Points), "tail", int(s.Blocks[dropblox.Known-1]))
	if r.Stack != nil {
		conform.Same(t, "stack", fmt.Sprint(r.Stack), stackText(s))
	}
}

func (n *totals) count(words []string, applied []int8) {
	for k, a := range applied {
		switch {
		case a == dropblox.Unknown || a == dropblox.Dropped:
			n.Unknown++
		case a == dropblox.Ignored:
			n.Illegal++
			if words[k] == dropblox.Rotate.String() {
				n.IllegalRotates++
			}
		case a == dropblox.Applied:
			n.Legal++
			if words[k] == dropblox.Up.String() {
				n.Ups++
			}
		}
	}
}

func end(t *conform.Tally, g *game, v conform.Values, _ *struct{}) {
	v.Given(t, "turns", int(g.state.Turns), "score", int(g.state.Points), "state", status(&g.state))
	reason := "none: the game goes on"
	if g.state.Failed {
		reason = "blocked"
	}
	v.Given(t, "reason", reason, "totals", g.totals)
}
