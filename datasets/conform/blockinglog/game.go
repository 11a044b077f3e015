package blockinglog

import (
	"errors"
	"fmt"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/blocking"
)

// gameRecord opens a game.
type gameRecord struct {
	ID      any    `json:"id"`
	Players int    `json:"players"`
	Letters string `json:"letters"`
}

// A game is the state of the open game.
type game struct {
	state  *blocking.State
	turns  int                    // answers so far
	others [env.MaxSeats][]string // moves of others since each player's last turn
	passed []int                  // players found without a placement and not yet reported
	lost   bool                   // it cannot be replayed further: the rest is not compared
}

func (c *replay) begin(t *conform.Tally, r *gameRecord) error {
	letters, err := blocking.ParseLetters(r.Letters, r.Players)
	if err != nil {
		return err
	}
	g := &game{state: blocking.New(r.Players, 0)}
	c.Begin(t, r.ID, g)
	g.state.Force(blocking.Deal(letters))
	g.state.Reset(0)
	g.lost = !conform.Same(t, "letters", r.Letters, blocking.LetterText(g.state.Letters))
	return nil
}

// turnRecord is a turn: what the player was sent, the answer and its outcome.
type turnRecord struct {
	T      *int     `json:"t"`
	P      int      `json:"p"`
	Rows   []string `json:"rows"`
	Others []string `json:"others"`
	Valid  []string `json:"valid"`
	Out    *string  `json:"out"`
	OK     *bool    `json:"ok"`
	Cells  [][]int  `json:"cells"`
	Scores []int    `json:"scores"`
}

// turn compares what the player was sent and plays the answer.
func (c *replay) turn(t *conform.Tally, r *turnRecord) error {
	g, err := c.Game()
	if err != nil {
		return err
	}
	if r.Out == nil {
		return errors.New(`no "out"`)
	}
	if g.lost {
		return nil
	}
	g.turns++
	s := g.state
	c.At(t, "turn %d", g.turns)
	t.Note("answer: " + *r.Out)
	g.reported(t)
	if g.lost = !conform.Same(t, "the game goes on", true, s.Reason == blocking.Running); g.lost {
		return nil
	}
	p := int(s.Turn)
	conform.Given(t, "t", r.T, g.turns)
	conform.Same(t, "p", r.P, p)
	rows := s.Rows(p)
	conform.GivenList(t, "rows", r.Rows, rows[:])
	conform.GivenList(t, "others", r.Others, g.others[p])
	if r.Valid != nil {
		var list []string
		for _, code := range s.List(p) {
			list = append(list, code.String())
		}
		conform.GivenList(t, "valid", r.Valid, list)
	}
	g.answer(t, r)
	return nil
}

// answer plays the answer of a player and compares its outcome.
func (g *game) answer(t *conform.Tally, r *turnRecord) {
	s, p := g.state, int(g.state.Turn)
	a, ok := s.Judge(p, *r.Out)
	conform.Given(t, "ok", r.OK, ok)
	var covered [][]int
	if ok {
		covered = cellsOf(s.Table(), a)
	}
	if r.Cells != nil || ok {
		conform.Same(t, "cells", fmt.Sprint(r.Cells), fmt.Sprint(covered))
	}
	g.others[p] = nil
	if ok {
		for i := range g.others {
			if i != p {
				g.others[i] = append(g.others[i], fmt.Sprintf("%d %s", p, strings.Join(strings.Fields(*r.Out), " ")))
			}
		}
	}
	stuck := s.Stuck
	s.Step(env.Alone(p, a))
	for k := range int(s.Seats) {
		if seat := (p + 1 + k) % int(s.Seats); (s.Stuck &^ stuck).Has(seat) {
			g.passed = append(g.passed, seat)
		}
	}
	g.scores(t, r.Scores)
}

func (g *game) scores(t *conform.Tally, recorded []int) {
	points := make([]int, g.state.Seats)
	for i := range points {
		points[i] = int(g.state.Points[i])
	}
	conform.GivenList(t, "scores", recorded, points)
}

// reported compares that every player who was passed over had a record.
func (g *game) reported(t *conform.Tally) {
	conform.Same(t, "passed over without a record", "[]", fmt.Sprint(g.passed))
	g.passed = nil
}

// skipRecord says that a player has no placement left and is passed over from now on.
type skipRecord struct {
	P      int   `json:"p"`
	Scores []int `json:"scores"`
}

func (c *replay) skip(t *conform.Tally, r *skipRecord) error {
	g, err := c.Game()
	if err != nil || g.lost {
		return err
	}
	c.At(t, "after turn %d", g.turns)
	next := -1
	if len(g.passed) > 0 {
		next, g.passed = g.passed[0], g.passed[1:]
	}
	conform.Same(t, "skip", r.P, next)
	g.scores(t, r.Scores)
	return nil
}

// endRecord closes a game.
type endRecord struct {
	ID     any      `json:"id"`
	Reason *string  `json:"reason"`
	Scores []int    `json:"scores"`
	Ranks  []int    `json:"ranks"`
	Final  []string `json:"final"`
}

func (c *replay) end(t *conform.Tally, r *endRecord) error {
	g, err := c.End(t, r.ID)
	if err != nil || g.lost {
		return err
	}
	g.reported(t)
	s := g.state
	reason := s.Reason.String()
	if reason == "" {
		reason = "none: the game is not over"
	}
	conform.Given(t, "reason", r.Reason, reason)
	scores, ranks := make([]int, s.Seats), make([]int, s.Seats)
	for i := range scores {
		scores[i], ranks[i] = s.Score(i), s.Rank(i)
	}
	conform.GivenList(t, "scores", r.Scores, scores)
	conform.GivenList(t, "ranks", r.Ranks, ranks)
	rows := s.Rows(-1)
	conform.GivenList(t, "final", r.Final, rows[:])
	return nil
}
