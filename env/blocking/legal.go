package blocking

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"blockyard/env"
)

// starts holds the seats' corners (rules §2).
var starts = [env.MaxSeats][2]int{{0, 0}, {Size - 1, Size - 1}, {0, Size - 1}, {Size - 1, 0}}

// opening is the set of letters with which seats 0 and 1 of three may begin (rules §4.3, 6).
const opening = 1<<4 - 1

// Open returns the cells where seat may lay squares, which are the free cells that touch none of
// its own along a side, and the well-connected ones among them (rules §4.2).
func (s *State) Open(seat int) (allowed, connected Board) {
	own, c := &s.Cells[seat], &s.Cells
	p, q, r, t := own[0], own[1], own[2], own[3]
	a0 := inRow &^ (c[0][0] | c[1][0] | c[2][0] | c[3][0])
	a1 := inRow &^ (c[0][1] | c[1][1] | c[2][1] | c[3][1])
	a2 := inRow &^ (c[0][2] | c[1][2] | c[2][2] | c[3][2])
	a3 := inLast &^ (c[0][3] | c[1][3] | c[2][3] | c[3][3])
	if p|q|r|t == 0 {
		allowed = Board{a0, a1, a2, a3}
		connected.Set(starts[seat][0], starts[seat][1])
		connected.And(&allowed)
		return allowed, connected
	}
	i, j, k, l := p>>1|p<<1, q>>1|q<<1, r>>1|r<<1, t>>1|t<<1 // beside its own
	a0 &^= i | p>>stride | p<<stride | q<<rest
	a1 &^= j | q>>stride | q<<stride | p>>rest | r<<rest
	a2 &^= k | r>>stride | r<<stride | q>>rest | t<<rest
	a3 &^= l | r>>rest
	connected[0] = a0 & (i>>stride | i<<stride | j<<rest)
	connected[1] = a1 & (j>>stride | j<<stride | i>>rest | k<<rest)
	connected[2] = a2 & (k>>stride | k<<stride | j>>rest | l<<rest)
	connected[3] = a3 & (k >> rest)
	return Board{a0, a1, a2, a3}, connected
}

// May returns, as bits, the letters that seat may lay at its next turn.
func (s *State) May(seat int) uint32 {
	left := s.Left[seat]
	if s.Seats == 3 && seat < 2 && s.Cells[seat].Empty() {
		left &= opening
	}
	return left
}

// maxActions is the most placements that a table can have: 8 forms of each letter, in boxes of 2x3.
const maxActions = Letters * 8 * (Size - 1) * (Size - 2)

// Legal implements env.State. The legal placements are those of rules §4.3 with the letters that the seat has left.
func (s *State) Legal(seat int, dst []env.Action) []env.Action {
	if s.Acting()>>uint(seat)&1 == 0 {
		return dst
	}
	var mask [maxActions/8 + 8]byte
	s.MaskLegal(seat, mask[:])
	for k := 0; k < s.Table().Actions; k += 64 {
		for w := binary.LittleEndian.Uint64(mask[k/8:]); w != 0; w &= w - 1 {
			dst = append(dst, env.Action(k+bits.TrailingZeros64(w)))
		}
	}
	return dst
}

// MaskLegal implements env.Masker, with the placements that Legal lists.
func (s *State) MaskLegal(seat int, mask []byte) {
	allowed, connected := s.Open(seat)
	var at scan
	for _, b := range s.Table().blocks {
		for at.start(b, &allowed, &connected, s.May(seat)); at.next(); {
			ids, x := &b.ids[at.y], uint16(at.x)
			for k := range at.fits {
				of := &ids[k]
				for w := at.fits[k]; w != 0; w &= w - 1 {
					a := of[bits.TrailingZeros64(w)&63] + x
					word := mask[a>>6<<3:][:8]
					binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)|1<<(a%64))
				}
			}
		}
	}
}

// CanPlace reports whether seat has a legal placement, even if it is not its turn.
func (s *State) CanPlace(seat int) bool {
	allowed, connected := s.Open(seat)
	t, may := s.Table(), s.May(seat)
	if may&t.single != 0 {
		return !connected.Empty()
	}
	var at scan
	for _, b := range t.blocks {
		for at.start(b, &allowed, &connected, may); at.next(); {
			if at.fits.any() {
				return true
			}
		}
	}
	return false
}

// List returns seat's placements, each once, in the order of the contest's list (rules §4.4).
func (s *State) List(seat int) []Code {
	t := s.Table()
	_, connected := s.Open(seat)
	legal := map[env.Action]bool{}
	for _, a := range s.Legal(seat, nil) {
		legal[a] = true
	}
	var out []Code
	for m := s.May(seat); m != 0; m &= m - 1 {
		out = t.codes(out, bits.TrailingZeros32(m), &connected, legal)
	}
	return out
}

// Answer implements env.Answerer with the code by which List names a placement.
func (s *State) Answer(seat int, a env.Action) string {
	t := s.Table()
	o, _, _ := t.Placement(a)
	_, connected := s.Open(seat)
	for _, c := range t.codes(nil, int(o.Letter), &connected, map[env.Action]bool{a: true}) {
		return c.String()
	}
	return ""
}

// codes appends the codes of one letter whose placement is in left, and removes these placements from left.
func (t *Table) codes(out []Code, letter int, connected *Board, left map[env.Action]bool) []Code {
	for form := 0; form < 8; form++ {
		for cell := 0; cell < Size*Size; cell++ {
			x, y := cell%Size, cell/Size
			if !connected.Has(x, y) {
				continue
			}
			for n := range t.Shapes[letter].Squares {
				c := Code{X: x, Y: y, L: letter, F: form / 4, R: form % 4, N: n + 1}
				if a := t.Action(c); a != env.None && left[a] {
					delete(left, a)
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// Anchored reports whether a code names a well-connected cell, as an answer must (rules §4.3, 3).
func (s *State) Anchored(seat int, c Code) bool {
	_, connected := s.Open(seat)
	return connected.Has(c.X, c.Y)
}

// Rows returns the board as the contest shows it to seat (rules §8.2): the owners of cells as
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

// Rank returns one more than the number of seats with a higher score (rules §7.3).
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

// ParseLetters reads the letters of a game: A to D and as many others as rules §11 gives, in alphabetical order.
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

// Squares returns the squares of a letter, flipped and rotated, by their numbers. Their box starts at (0,0).
func (t *Table) Squares(letter, flip, turn int) []Cell { return t.at[letter][flip][turn] }

// Judge reads seat's answer line (rules §8.3). It returns the action, or None and false if the
// answer is not legal (rules §4.3). Any of the codes of a placement is accepted.
func (s *State) Judge(seat int, line string) (a env.Action, legal bool) {
	c, err := s.Table().ParseCode(line)
	if err != nil || !s.Anchored(seat, c) {
		return env.None, false
	}
	if a = s.Table().Action(c); slices.Contains(s.Legal(seat, nil), a) {
		return a, true
	}
	return env.None, false
}
