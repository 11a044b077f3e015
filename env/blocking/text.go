package blocking

import (
	"fmt"
	"math/bits"

	"blockyard/env"
)

// Rows returns the board as the contest shows it to seat (rules §6.2): the owners of cells as
// digits, 'x' for the seat's well-connected cells, and '.' elsewhere. For seat -1 there is no 'x'.
func (s *State) Rows(seat int) (rows [Size]string) {
	var connected Board
	if seat >= 0 {
		_, connected = s.Open(seat)
	}
	var row [Size]byte
	for y := range rows {
		for x := range row {
			row[x] = '.'
			if connected.Has(x, y) {
				row[x] = 'x'
			}
			for i := range s.Cells {
				if s.Cells[i].Has(x, y) {
					row[x] = '0' + byte(i)
				}
			}
		}
		rows[y] = string(row[:])
	}
	return rows
}

// Rank returns one more than the number of seats with a higher score (rules §5.4).
func (s *State) Rank(seat int) int {
	rank := 1
	for i := 0; i < int(s.Seats); i++ {
		if s.Score(i) > s.Score(seat) {
			rank++
		}
	}
	return rank
}

// LetterText returns a set of letters in alphabetical order.
func LetterText(set uint32) string {
	var out []byte
	for ; set != 0; set &= set - 1 {
		out = append(out, 'A'+byte(bits.TrailingZeros32(set)))
	}
	return string(out)
}

// ParseLetters reads the letters of a game in alphabetical order: A to D and as many others as
// rules §1 gives to that number of seats.
func ParseLetters(text string, seats int) (set uint32, err error) {
	if seats < 2 || seats > 4 {
		return 0, fmt.Errorf("%d players, want 2 to 4", seats)
	}
	for i := 0; i < len(text); i++ {
		l := int(text[i]) - 'A'
		if l < 0 || l >= Letters || set>>uint(l) != 0 {
			return 0, fmt.Errorf("letters %q: want some of A to U in alphabetical order", text)
		}
		set |= 1 << uint(l)
	}
	if set&opening != opening || len(text) != 4+drawn[seats] {
		return 0, fmt.Errorf("letters %q: want A to D and %d others", text, drawn[seats])
	}
	return set, nil
}

// Squares returns the squares of a letter, flipped and rotated, in the order of their numbers.
// Their box starts at (0,0).
func (t *Table) Squares(letter, flip, turn int) []Cell { return t.at[letter][flip][turn] }

// Judge reads seat's answer line (rules §6.3). It returns the action, or None and false if the
// answer is not legal (rules §4.2). Any of the codes of a placement is accepted.
func (s *State) Judge(seat int, line string) (a env.Action, legal bool) {
	c, err := s.Table().ParseCode(line)
	if err != nil || !s.Anchored(seat, c) {
		return env.None, false
	}
	a = s.Table().Action(c)
	if a == env.None {
		return env.None, false
	}
	for _, l := range s.Legal(seat, nil) {
		if l == a {
			return a, true
		}
	}
	return env.None, false
}
