package blockingbot

import (
	"fmt"
	"strings"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blocking"
)

// Greeting returns the lines for a seat at the start of a game (rules §8.1).
func Greeting(s *blocking.State, seat int) []string {
	letters := blocking.LetterText(s.Letters)
	lines := []string{fmt.Sprint(len(letters))}
	for i := 0; i < len(letters); i++ {
		d := &s.Table().Shapes[letters[i]-'A']
		lines = append(lines, fmt.Sprintf("%c %d %d %s", letters[i], d.Cols, d.Rows, d.Text))
	}
	return append(lines, fmt.Sprint(s.Seats), fmt.Sprint(seat), fmt.Sprint(blocking.Size), letters)
}

// Request returns the lines for a seat at its turn (rules §8.2), with others' moves since its last turn as written.
func Request(s *blocking.State, seat int, others []string) []string {
	rows := s.Rows(seat)
	lines := append([]string{}, rows[:]...)
	lines = append(append(lines, fmt.Sprint(len(others))), others...)
	list := s.List(seat)
	lines = append(lines, fmt.Sprint(len(list)))
	for _, code := range list {
		lines = append(lines, code.String())
	}
	return lines
}

// Move returns the line about a move for the other seats: the player and its answer.
func Move(seat int, answer string) string {
	return fmt.Sprintf("%d %s", seat, strings.Join(strings.Fields(answer), " "))
}

// Request finds the moves of the others by comparing the position with that of the previous turn.
func (c *Codec) Request(state env.State, t contest.Turn) (lines []string) {
	s := state.(*blocking.State)
	if !c.opened {
		c.opened = true
		lines = Greeting(s, t.Seat)
	}
	var others []string
	for k := 0; k < int(s.Seats); k++ {
		seat := (t.Seat + k) % int(s.Seats)
		if k > 0 {
			others = append(others, c.seen(s, seat)...)
		}
		c.board[seat], c.received.used[seat] = s.Cells[seat], s.Letters&^s.Left[seat]
	}
	return append(lines, Request(s, t.Seat, others)...)
}

// seen returns the moves that a seat has made since the last request, usually one.
func (c *Codec) seen(s *blocking.State, seat int) (moves []string) {
	before := blocking.State{Seats: s.Seats, TableID: s.TableID}
	before.Cells[seat] = c.board[seat]
	fresh := s.Cells[seat]
	fresh.Without(&c.board[seat])
	for _, l := range blocking.LetterText(s.Letters &^ s.Left[seat] &^ c.received.used[seat]) {
		if code, ok := codeWithin(&before, seat, int(l-'A'), &fresh); ok {
			moves = append(moves, Move(seat, code.String()))
		}
	}
	return moves
}

// codeWithin finds a code for letter l that is legal for the seat in s and whose cells are all in a set.
func codeWithin(s *blocking.State, seat, l int, set *blocking.Board) (blocking.Code, bool) {
	for c := (blocking.Code{L: l}); c.Y < blocking.Size; c.Y++ {
		for c.X = 0; c.X < blocking.Size; c.X++ {
			if !set.Has(c.X, c.Y) || !s.Anchored(seat, c) {
				continue
			}
			for k := 0; k < 8*len(s.Table().Shapes[l].Squares); k++ {
				c.F, c.R, c.N = k/4%2, k%4, 1+k/8
				if a := s.Table().Action(c); a != env.None && covers(s.Table(), a, set) {
					return c, true
				}
			}
		}
	}
	return blocking.Code{}, false
}

// covers reports whether all cells of a placement are in a set.
func covers(t *blocking.Table, a env.Action, set *blocking.Board) bool {
	o, x, y := t.Placement(a)
	for _, c := range o.Cells {
		if !set.Has(x+int(c.X), y+int(c.Y)) {
			return false
		}
	}
	return true
}

// Judge implements contest.Codec. It returns env.None for an illegal answer.
func (c *Codec) Judge(s env.State, seat int, answer string) env.Action {
	a, _ := s.(*blocking.State).Judge(seat, answer)
	return a
}
