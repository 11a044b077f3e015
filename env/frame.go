package env

import (
	"fmt"
	"strings"
)

// A Frame is a position drawn for people: boards of cells, trays of pieces and lines of
// notes. Viewers draw Frames, so that one terminal view and one browser view show every game.
type Frame struct {
	Boards []Board  // side by side, from the left
	Notes  []string // round, scores, what comes next
	Trays  []Tray   // pieces beside the boards; String leaves them out
	// Facts are for viewers that show scores and Trays as such: what the Notes say besides. String leaves them out.
	Facts []Fact
}

// A Fact is a named value of a position: the round, or a seat's combo.
type Fact struct {
	Seat        int // that it is about; Everybody if it is about no single seat
	Name, Value string
}

// A Board is a grid of cells, row by row from the top.
type Board struct {
	Name  string
	W, H  int
	Cells []Cell // W*H
}

// A Cell is one square of a Board.
type Cell struct {
	Kind   CellKind
	Letter byte  // upper-case letter of a piece or its ghost, or digit of a seat, from 1; 0 for other kinds
	Ink    uint8 // colour, 1 to 15 as the viewer's palette has it; of CellEmpty and CellZone a tint, or 0
}

// CellKind says what a Cell shows.
type CellKind uint8

// The kinds of cells, with the glyph that stands for each in text.
const (
	CellEmpty   CellKind = iota // '.': nothing
	CellZone                    // ':': nothing, in a part of the board that the rules treat differently
	CellSettled                 // 'x': part of a piece that has settled
	CellWall                    // '#': never to be filled
	CellPiece                   // Letter: part of a piece in play
	CellGhost                   // Letter in lower case: where a piece in play would come to rest
	CellSeat                    // Letter: owned by the seat of that digit
)

// Glyph returns the character that stands for the cell in text.
func (c Cell) Glyph() byte {
	switch c.Kind {
	case CellPiece, CellSeat:
		return c.Letter
	case CellGhost:
		return c.Letter + 'a' - 'A'
	}
	return ".:x#"[c.Kind]
}

// A Tray is a row of single pieces: those to come, or those that a seat has left.
type Tray struct {
	Name   string
	Seat   int     // whose pieces they are; Everybody if they belong to no single seat
	Pieces []Board // the next one first; each board is as small as its piece
}

// Everybody is the Seat of a Tray that belongs to no single seat.
const Everybody = -1

// A Marker is a State that can also draw the effect of an action.
type Marker interface {
	// Mark draws on f, which Show has drawn and Unghost has cleared, the cells that seat's
	// legal action a is going to fill, as CellGhost. Cells off the board are left out.
	Mark(f *Frame, seat int, a Action)
}

// An Answerer is a State whose contest has other words for an action than Game.Text.
type Answerer interface {
	// Answer returns what a bot of the contest writes to play seat's legal action a, in one line.
	Answer(seat int, a Action) string
}

// Reset empties the frame and keeps its memory.
func (f *Frame) Reset() {
	f.Boards, f.Notes, f.Trays, f.Facts = f.Boards[:0], f.Notes[:0], f.Trays[:0], f.Facts[:0]
}

// Add appends a board of empty cells and returns it.
func (f *Frame) Add(name string, w, h int) *Board {
	f.Boards = append(f.Boards, Board{Name: name, W: w, H: h, Cells: make([]Cell, w*h)})
	return &f.Boards[len(f.Boards)-1]
}

// Tray appends an empty tray and returns it.
func (f *Frame) Tray(name string, seat int) *Tray {
	f.Trays = append(f.Trays, Tray{Name: name, Seat: seat})
	return &f.Trays[len(f.Trays)-1]
}

// Note appends a line of notes.
func (f *Frame) Note(line string) { f.Notes = append(f.Notes, line) }

// Fact appends a fact; seat may be Everybody.
func (f *Frame) Fact(seat int, name string, value any) {
	f.Facts = append(f.Facts, Fact{seat, name, fmt.Sprint(value)})
}

// Add appends a piece of n cells, all drawn as c. Cell k is at column and row at(k), counted from any origin.
func (t *Tray) Add(c Cell, n int, at func(k int) (x, y int)) {
	if n == 0 {
		return
	}
	left, top := at(0)
	right, bottom := left, top
	for k := 1; k < n; k++ {
		x, y := at(k)
		left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
	}
	w, h := right-left+1, bottom-top+1
	b := Board{W: w, H: h, Cells: make([]Cell, w*h)}
	for k := 0; k < n; k++ {
		x, y := at(k)
		b.Set(x-left, y-top, c)
	}
	t.Pieces = append(t.Pieces, b)
}

// Set draws the cell in column x, row y. It ignores cells outside the board.
func (b *Board) Set(x, y int, c Cell) {
	if x >= 0 && x < b.W && y >= 0 && y < b.H {
		b.Cells[y*b.W+x] = c
	}
}

// Unghost empties the cells of ghosts.
func (b *Board) Unghost() {
	for k, c := range b.Cells {
		if c.Kind == CellGhost {
			b.Cells[k] = Cell{}
		}
	}
}

// Glyphs returns the glyph of every cell.
func (b *Board) Glyphs() []byte {
	out := make([]byte, len(b.Cells))
	for k, c := range b.Cells {
		out[k] = c.Glyph()
	}
	return out
}

// String lays the boards out side by side as plain text, with the notes below.
func (f *Frame) String() string {
	var out strings.Builder
	rows := 0
	for _, b := range f.Boards {
		rows = max(rows, b.H)
	}
	line := func(cell func(b *Board) string) {
		var parts []string
		for i := range f.Boards {
			b := &f.Boards[i]
			text := cell(b)
			parts = append(parts, text+strings.Repeat(" ", max(0, max(b.W, len(b.Name))-len(text))))
		}
		out.WriteString(strings.TrimRight(strings.Join(parts, "  "), " ") + "\n")
	}
	line(func(b *Board) string { return b.Name })
	for y := range rows {
		line(func(b *Board) string {
			if y >= b.H {
				return ""
			}
			row := Board{Cells: b.Cells[y*b.W : (y+1)*b.W]}
			return string(row.Glyphs())
		})
	}
	for _, n := range f.Notes {
		out.WriteString(n + "\n")
	}
	return out.String()
}
