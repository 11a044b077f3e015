package blockinglog

import (
	"cmp"
	"fmt"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/blocking"
)

// A gameRecord is the line that opens a game: the number of players and the letters drawn.
type gameRecord struct {
	Players int    `json:"players"`
	Letters string `json:"letters"`
}

// A game is the state of the game that is being replayed.
type game struct {
	state  *blocking.State
	turns  int                    // answers so far
	others [env.MaxSeats][]string // moves of others since each player's last turn
	passed []int                  // players found without a placement and not yet reported
}

func begin(t *conform.Tally, g *game, _ conform.Values, r *gameRecord) {
	letters, err := blocking.ParseLetters(r.Letters, r.Players)
	conform.Valid(err)
	g.state = blocking.New(r.Players, 0)
	g.state.Force(blocking.Deal(letters))
	g.state.Reset(0)
	conform.Require(t, "letters", r.Letters, blocking.LetterText(g.state.Letters))
}

// A turnRecord is the line of a turn: the player, its answer, and the cells that it covered.
type turnRecord struct {
	P     int     `json:"p"`
	Out   *string `json:"out"`
	Cells [][]int `json:"cells"`
}

func turn(t *conform.Tally, g *game, v conform.Values, r *turnRecord) {
	if r.Out == nil {
		conform.Malformed(`no "out"`)
	}
	g.turns++
	s := g.state
	t.At("turn %d", g.turns)
	t.Note("answer: " + *r.Out)
	g.reported(t)
	conform.Require(t, "the game goes on", true, s.Reason == blocking.Running)
	p := int(s.Turn)
	v.Given(t, "t", g.turns)
	conform.Same(t, "p", r.P, p)
	rows := s.Rows(p)
	v.Given(t, "rows", rows[:], "others", g.others[p])
	if v.Has("valid") {
		v.Given(t, "valid", conform.Each(s.List(p), blocking.Code.String))
	}
	g.answer(t, v, r)
}

func (g *game) answer(t *conform.Tally, v conform.Values, r *turnRecord) {
	s, p := g.state, int(g.state.Turn)
	a, ok := s.Judge(p, *r.Out)
	v.Given(t, "ok", ok)
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
	g.scores(t, v)
}

func (g *game) scores(t *conform.Tally, v conform.Values) {
	points := make([]int, g.state.Seats)
	for i := range points {
		points[i] = int(g.state.Points[i])
	}
	v.Given(t, "scores", points)
}

// reported compares that every player who was passed over had a record.
func (g *game) reported(t *conform.Tally) {
	conform.Same(t, "passed over without a record", "[]", fmt.Sprint(g.passed))
	g.passed = nil
}

// skip says that a player has no placement left and is passed over from now on.
func skip(t *conform.Tally, g *game, v conform.Values, r *struct{ P int }) {
	t.At("after turn %d", g.turns)
	next := -1
	if len(g.passed) > 0 {
		next, g.passed = g.passed[0], g.passed[1:]
	}
	conform.Same(t, "skip", r.P, next)
	g.scores(t, v)
}

func end(t *conform.Tally, g *game, v conform.Values, _ *struct{}) {
	g.reported(t)
	s := g.state
	v.Given(t, "reason", cmp.Or(s.Reason.String(), "none: the game is not over"))
	scores, ranks := make([]int, s.Seats), make([]int, s.Seats)
	for i := range scores {
		scores[i], ranks[i] = s.Score(i), s.Rank(i)
	}
	v.Given(t, "scores", scores, "ranks", ranks)
	rows := s.Rows(-1)
	v.Given(t, "final", rows[:])
}
