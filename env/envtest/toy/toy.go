// Package toy has two games, small enough to follow on paper, for tests of packages that work with every game.
//
// A card of value 1, 2 or 3 lies open, and the next card is hidden. On card c a seat chooses one of the
// numbers 1 … c and scores that many points; the action id is (c-1)*3 + number-1. In Pick both seats
// choose at once, and equal numbers score nothing. In Turns three seats choose in turn, each on its own
// card. The game ends after Length cards, or when a seat has Target points.
//
//	planes    2x2x3: row 0 of plane 0 has 1 for each number that the card offers; plane 1 has the
//	          last number of this seat (row 0) and of the next seat (row 1)
//	globals   own points / Target, the best other seat's points / Target, cards / Length
//	score     points
//	result    1 for the only seat with the most points, -1 for the others, 0 in a tie for the most
package toy

import (
	"fmt"

	"blockyard/env"
)

const (
	Length = 12 // cards in a game
	Target = 14 // points that end it
	cards  = 3  // values of a card
)

// Pick is the game in which both seats choose at once.
var Pick = game("toy:pick", "ToyPick-v0", 2, 2, false)

// Turns is the game of three seats choosing in turn.
var Turns = game("toy:turns", "ToyTurns-v0", 3, 1, true)

func game(name, id string, seats, rows int, turns bool) *env.Game {
	return &env.Game{
		Name: name, ID: id, Rules: 1,
		MinSeats: seats, MaxSeats: seats, Rows: rows, Actions: cards * cards, MaxLegal: cards,
		Planes: env.Shape{C: 2, H: 2, W: 3}, PlaneMax: cards, PlaneNames: []string{"offer", "last"},
		GlobalNames: []string{"own points", "best other points", "cards"},
		Potential:   []env.Term{{Global: "own points", Weight: 0.1}, {Global: "best other points", Weight: -0.05}},
		New: func(n int) env.State {
			s := &State{Seats: uint8(n), Turns: turns}
			s.Reset(0)
			return s
		},
		Text: Text, Parse: Parse,
	}
}

// Text returns an action as "card 3 take 1".
func Text(a env.Action) string { return fmt.Sprintf("card %d take %d", a/cards+1, a%cards+1) }

// Parse reads what Text writes.
var Parse = env.Parser(cards*cards, Text, "toy: %q is no action, want one like \""+Text(0)+"\"")

// A State is a position of either game.
type State struct {
	env.Rand
	Seats  uint8
	Turns  bool
	Played uint8 // cards played
	Card   uint8 // the open card: 1 … 3
	Next   uint8 // the hidden card
	Points [env.MaxSeats]uint8
	Last   [env.MaxSeats]uint8 // number last chosen, 0 for none
}

// Reset implements env.State: it draws the open card and the hidden one from the seed.
func (s *State) Reset(seed uint64) {
	*s = State{Rand: s.Rand, Seats: s.Seats, Turns: s.Turns}
	s.Restart(env.Mix(seed))
	s.Card = 1 + uint8(s.Draw(cards))
	s.Next = 1 + uint8(s.Draw(cards))
	s.End()
}

// Hide implements env.State. The next card and all later ones are hidden.
func (s *State) Hide(_ env.Seats, seed uint64) {
	s.Seed(env.Mix(seed))
	s.Next = 1 + uint8(s.Rand.Next()%cards)
	s.Rand.Begin()
	s.End()
}

// CopyFrom implements env.State by one assignment. It panics if src is a State of another game.
func (s *State) CopyFrom(src env.State) { *s = *src.(*State) }

// Check implements env.State: it bounds every field by the rules above.
func (s *State) Check() error {
	c := env.Checker{Game: "toy"}
	c.Draws(&s.Rand)
	c.Want(s.Seats == 2 && !s.Turns || s.Seats == 3 && s.Turns, "Seats is %d, want 2, or 3 in turns", s.Seats)
	c.Range("Card", int(s.Card), 1, cards)
	c.Range("Next", int(s.Next), 1, cards)
	c.Range("Played", int(s.Played), 0, Length)
	for i := range s.Points {
		c.Want(s.Points[i] < Target+cards, "Points[%d] is %d, want 0 to %d", i, s.Points[i], Target+cards-1)
		c.Want(s.Last[i] <= cards, "Last[%d] is %d, want 0 to %d", i, s.Last[i], cards)
	}
	return c.Err
}

// SeatCount implements env.State: 2 for Pick and 3 for Turns.
func (s *State) SeatCount() int { return int(s.Seats) }

// Acting implements env.State: both seats, or in Turns the next one, until Length cards are played or a seat has
// Target points.
func (s *State) Acting() env.Seats {
	for seat := range s.Seats {
		if s.Points[seat] >= Target {
			return 0
		}
	}
	switch {
	case s.Played >= Length:
		return 0
	case s.Turns:
		return 1 << (s.Played % s.Seats)
	}
	return 3
}

// Legal implements env.State: a seat takes 1 up to the number of the open card.
func (s *State) Legal(seat int, dst []env.Action) []env.Action {
	if s.Acting().Has(seat) {
		for k := range s.Card {
			dst = append(dst, env.Action((s.Card-1)*cards+k))
		}
	}
	return dst
}

// Step implements env.State. None scores nothing.
func (s *State) Step(m env.Moves) {
	acting := s.Acting()
	if acting == 0 {
		return
	}
	s.Begin()
	for set := acting; set != 0; set = set.Rest() {
		seat := set.First()
		s.Last[seat] = number(m[seat])
	}
	for set := acting; set != 0; set = set.Rest() {
		seat := set.First()
		if s.Turns || s.Last[0] != s.Last[1] {
			s.Points[seat] += s.Last[seat]
		}
	}
	s.turn()
}

// After implements env.Afterstater. In Pick the number scores, whatever the other seat takes.
func (s *State) After(seat int, a env.Action) {
	if s.Turns {
		s.Step(env.Alone(seat, a))
		return
	}
	s.Begin()
	s.Last[seat] = number(a)
	s.Points[seat] += s.Last[seat]
	s.turn()
}

func (s *State) turn() {
	s.Played++
	s.Card, s.Next = s.Next, 1+uint8(s.Draw(cards))
	s.End()
}

func number(a env.Action) uint8 {
	if a == env.None {
		return 0
	}
	return uint8(a%cards) + 1
}

// Score implements env.State with the numbers that the seat has scored so far.
func (s *State) Score(seat int) int { return int(s.Points[seat]) }

// Result implements env.State: it compares the seat's points with the best of the others.
func (s *State) Result(seat int) float32 {
	other := s.bestOther(seat)
	switch {
	case s.Acting() != 0:
		return 0
	case s.Points[seat] > other:
		return 1
	case s.Points[seat] == other:
		return 0
	}
	return -1
}

func (s *State) bestOther(seat int) uint8 {
	best := uint8(0)
	for i := range int(s.Seats) {
		if i != seat {
			best = max(best, s.Points[i])
		}
	}
	return best
}

// Observe implements env.State. The first plane is the open card, the second the last choices of the seat and of the
// one after it. The globals are the two best points as parts of Target, and the cards played as a part of Length.
func (s *State) Observe(seat int, planes []uint8, globals []float32) {
	clear(planes)
	for k := range s.Card {
		planes[k] = 1
	}
	for row, who := range [2]int{seat, (seat + 1) % int(s.Seats)} {
		planes[6+3*row] = s.Last[who]
	}
	globals[0] = float32(s.Points[seat]) / Target
	globals[1] = float32(s.bestOther(seat)) / Target
	globals[2] = float32(s.Played) / Length
}

// Show implements env.State: the open card as a row of cells, and a line for each seat.
func (s *State) Show(f *env.Frame) {
	b := f.Add("card", cards, 1)
	for k := range int(s.Card) {
		b.Set(k, 0, env.Cell{Kind: env.CellWall, Ink: 1})
	}
	for seat := range int(s.Seats) {
		f.Note(fmt.Sprintf("seat %d: %d points, last %d", seat, s.Points[seat], s.Last[seat]))
	}
}
