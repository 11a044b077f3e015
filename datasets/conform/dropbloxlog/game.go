package dropbloxlog

import (
	"fmt"

	"blockyard/datasets/conform"
	"blockyard/env/dropblox"
)

// gameRecord opens a game.
type gameRecord struct {
	ID        any                    `json:"id"`
	Seed      seed                   `json:"seed"`
	Start     *int                   `json:"start_score"`
	Block     *int                   `json:"block"`
	Discarded *int                   `json:"discarded"`
	Preview   *[dropblox.Preview]int `json:"preview"`
}

// A game is the state of the open game.
type game struct {
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

func (c *replay) begin(t *conform.Tally, r *gameRecord) error {
	g := new(game)
	if err := g.state.ResetSeed(string(r.Seed)); err != nil {
		return err
	}
	c.Begin(t, r.ID, g)
	c.At(t, "start")
	draws := g.state.Draws(nil)
	conform.Given(t, "block", r.Block, int(draws[0]))
	conform.Given(t, "discarded", r.Discarded, int(draws[1]))
	var preview [dropblox.Preview]int
	for k := range preview {
		preview[k] = int(g.state.Blocks[1+k])
	}
	conform.Given(t, "preview", r.Preview, preview)
	if r.Start != nil {
		if *r.Start < 0 || *r.Start > 1<<20 {
			return fmt.Errorf("start_score %d, want 0 to %d", *r.Start, 1<<20)
		}
		g.state.Points = int32(*r.Start)
	}
	return nil
}

// moveRecord is what turns and cases have in common: a block, the commands and their effect.
type moveRecord struct {
	Type       *int     `json:"type"`
	At         *[2]int  `json:"at"`
	Offsets    [][2]int `json:"offsets"`
	Commands   []string `json:"cmds"`
	Applied    []int8   `json:"applied"`
	Pre        *[2]int  `json:"pre"`
	PreOffsets [][2]int `json:"pre_offsets"`
	Fall       *int     `json:"fall"`
	State      *string  `json:"state"`
	Next       *int     `json:"next"`
}

// compare plays the turn on s and compares all but the board.
func (r *moveRecord) compare(t *conform.Tally, s *dropblox.State) dropblox.Played {
	b := s.Block(0)
	conform.Given(t, "type", r.Type, int(b.Type))
	conform.Given(t, "at", r.At, point(b.Center))
	conform.GivenList(t, "offsets", r.Offsets, offsets(&b))
	p := s.Turn(r.Commands...)
	conform.GivenList(t, "applied", r.Applied, p.Applied)
	conform.Given(t, "pre", r.Pre, point(p.Moved.Center))
	conform.GivenList(t, "pre_offsets", r.PreOffsets, offsets(&p.Moved))
	conform.Given(t, "fall", r.Fall, p.Fall)
	conform.Given(t, "state", r.State, status(s))
	conform.Given(t, "next", r.Next, int(s.Blocks[0]))
	return p
}

// turnRecord is a turn of the open game.
type turnRecord struct {
	moveRecord
	ID      any     `json:"id"`
	Turn    *int    `json:"t"`
	Cleared *int    `json:"cleared"`
	Score   *int    `json:"score"`
	Stack   [][]int `json:"stack"`
	Tail    *int    `json:"tail"`
}

func (c *replay) turn(t *conform.Tally, r *turnRecord) error {
	g, err := c.Game()
	if err != nil {
		return err
	}
	s := &g.state
	n := int(s.Turns)
	c.At(t, "turn %d", n)
	t.Note(fmt.Sprintf("commands: %q", r.Commands))
	c.SameID(t, r.ID)
	conform.Given(t, "t", r.Turn, n)
	if s.Failed {
		conform.Same(t, "state before the turn", "playing", "failed")
		return nil
	}
	p := r.compare(t, s)
	g.totals.count(r.Commands, p.Applied)
	g.totals.Rows += p.Rows
	conform.Given(t, "cleared", r.Cleared, p.Rows)
	conform.Given(t, "score", r.Score, int(s.Points))
	conform.Given(t, "tail", r.Tail, int(s.Blocks[dropblox.Known-1]))
	if r.Stack != nil {
		conform.Same(t, "stack", fmt.Sprint(r.Stack), stackText(s))
	}
	return nil
}

// count adds the outcomes of a turn's commands.
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

// endRecord closes a game.
type endRecord struct {
	ID     any     `json:"id"`
	Turns  *int    `json:"turns"`
	Score  *int    `json:"score"`
	State  *string `json:"state"`
	Reason *string `json:"reason"`
	Totals *totals `json:"totals"`
}

func (c *replay) end(t *conform.Tally, r *endRecord) error {
	g, err := c.End(t, r.ID)
	if err != nil {
		return err
	}
	conform.Given(t, "turns", r.Turns, int(g.state.Turns))
	conform.Given(t, "score", r.Score, int(g.state.Points))
	conform.Given(t, "state", r.State, status(&g.state))
	reason := "none: the game goes on"
	if g.state.Failed {
		reason = "blocked"
	}
	conform.Given(t, "reason", r.Reason, reason)
	conform.Given(t, "totals", r.Totals, g.totals)
	return nil
}
