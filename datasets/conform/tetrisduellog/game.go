package tetrisduellog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// gameRecord opens a game.
type gameRecord struct {
	ID     any   `json:"id"`
	Blocks []int `json:"blocks"`
}

// A game is the state of the open game.
type game struct {
	state tetrisduel.State
	stats stats
	lost  bool   // it cannot be replayed further: the rest is not compared
	fault string // why a player made no placement; "" so far
}

func (c *replay) begin(t *conform.Tally, r *gameRecord) error {
	if len(r.Blocks) != tetrisduel.HalfTurns {
		return fmt.Errorf("%d blocks, want %d", len(r.Blocks), tetrisduel.HalfTurns)
	}
	blocks := make([]uint8, len(r.Blocks))
	for i, b := range r.Blocks {
		k, err := kindOf(b)
		if err != nil {
			return fmt.Errorf("half-turn %d: %w", i+1, err)
		}
		blocks[i] = uint8(k)
	}
	g := new(game)
	c.Begin(t, r.ID, g)
	draws, ok := tetrisduel.Draws(blocks)
	if g.lost = !conform.Same(t, "blocks come in packages of seven", true, ok); g.lost {
		return nil
	}
	g.state.Force(draws)
	g.state.Reset(0)
	return nil
}

// turnRecord is a half-turn.
type turnRecord struct {
	T      int         `json:"t"`
	P      int         `json:"p"`
	Block  int         `json:"block"`
	N      *int        `json:"n"`
	Valid  []string    `json:"valid"`
	Seen   *seenRecord `json:"seen"`
	Act    []int       `json:"act"`
	Peace  *int        `json:"peace"`
	Battle *int        `json:"battle"`
	Board  *string     `json:"board"`
	S1     *int        `json:"s1"`
	S2     *int        `json:"s2"`
	Combo  *int        `json:"combo"`
	Flag   *bool       `json:"flag"`
	Steal  int         `json:"steal"`
	Bad    *string     `json:"bad"`
}

// seenRecord is what the mover was shown.
type seenRecord struct {
	Round   *int    `json:"round"`
	Mine    *int    `json:"mine"`
	Opp     *int    `json:"opp"`
	Combo   *int    `json:"combo"`
	Cleared *bool   `json:"cleared"`
	Last    []int   `json:"last"`
	Board   *string `json:"board"`
}

func (c *replay) turn(t *conform.Tally, r *turnRecord) error {
	g, err := c.Game()
	if err != nil {
		return err
	}
	if r.Act == nil && r.Bad == nil {
		return errors.New(`neither "act" nor "bad", want one of them`)
	}
	if g.lost {
		return nil
	}
	s := &g.state
	c.At(t, "half-turn %d", r.T)
	// The state is over when there is no placement, but the transcript still has a half-turn then. So the
	// list comes from the board.
	over := s.Reason == tetrisduel.Limit || g.fault != ""
	if g.lost = !conform.Same(t, "the game goes on", true, !over); g.lost {
		return nil
	}
	seat := s.Mover()
	conform.Same(t, "t", r.T, int(s.Turn))
	conform.Same(t, "p", r.P, seat+1)
	conform.Same(t, "block", r.Block, s.Block(int(s.Turn))+1)
	board := s.Board(seat)
	list := tetrisduel.Placements(&board, s.Block(int(s.Turn)), false, nil)
	conform.Given(t, "n", r.N, len(list))
	conform.Same(t, "valid", strings.Join(r.Valid, " "), listText(list))
	conform.Same(t, "the mover was asked", r.Seen != nil, len(list) > 0)
	if r.Seen != nil {
		g.seen(t, r.Seen)
	}
	if r.Act == nil {
		g.bad(t, *r.Bad, list)
		return nil
	}
	return g.act(t, r, list)
}

func (g *game) seen(t *conform.Tally, r *seenRecord) {
	s := &g.state
	seat := s.Mover()
	conform.Given(t, "seen round", r.Round, int(s.Turn+1)/2)
	conform.Given(t, "seen mine", r.Mine, s.Score(seat))
	conform.Given(t, "seen opp", r.Opp, s.Score(1-seat))
	conform.Given(t, "seen combo", r.Combo, int(s.Combo))
	conform.Given(t, "seen cleared", r.Cleared, seat == 1 && s.Flag)
	last := "none"
	if r.Last != nil {
		last = fmt.Sprint(r.Last)
	}
	conform.Same(t, "seen last", last, placementText(s.Last[1-seat]))
	if r.Board != nil {
		board := s.Board(seat)
		conform.Same(t, "seen board", strings.ToLower(*r.Board), boardText(&board))
	}
}

// act plays the recorded placement and compares its outcome.
func (g *game) act(t *conform.Tally, r *turnRecord, list []env.Action) error {
	p, err := parsePlacement(r.Act)
	if err != nil {
		return err
	}
	s := &g.state
	if g.lost = !conform.Same(t, "act is in the list", true, slices.Contains(list, p.Action())); g.lost {
		return nil
	}
	steal := g.stats.place(s, p)
	peace, battle := s.Place(p.Action())
	g.stats.count(s, steal)
	conform.Given(t, "peace", r.Peace, peace)
	conform.Given(t, "battle", r.Battle, battle)
	if r.Board != nil {
		conform.Same(t, "board", strings.ToLower(*r.Board), boardText(&s.Cells))
	}
	conform.Given(t, "s1", r.S1, s.Score(0))
	conform.Given(t, "s2", r.S2, s.Score(1))
	conform.Given(t, "combo", r.Combo, int(s.Combo))
	conform.Given(t, "flag", r.Flag, s.Flag)
	conform.Same(t, "steal", r.Steal, steal)
	return nil
}
