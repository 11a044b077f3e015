package env

import "strings"

// A Frame is a position painted for people: boards of cells and lines of notes. It knows
// no game, so one terminal view and one browser viewer show them all.
type Frame struct {
	Boards []Board  // side by side, from the left
	Notes  []string // round, scores, what comes next
	Trays  []Tray   // pieces beside the boards, for viewers with room for them; String leaves them out
}

// A Tray is a row of single pieces: those to come, or those a seat has left.
type Tray struct {
	Name   string
	Seat   int     // whose; Everybody if they are nobody's own
	Pieces []Board // the nearest first, each no larger than its piece
}

// Everybody is the Seat of a tray that belongs to all alike.
const Everybody = -1

// A Marker is a State that can also paint where a choice leads.
type Marker interface {
	// Mark paints on f, which Show has painted, the cells that seat's choice a, legal in the
	// position, is going to fill: the piece's glyph in lower case, in the piece's ink. Cells
	// off the board are left out; a choice that fills none paints none. Ghosts that Show
	// painted itself are not to be there any more: see Unghost.
	Mark(f *Frame, seat int, a Action)
}

// A Board is a grid of cells, row by row. A glyph is '.' in an empty cell, 'x' where a piece
// has settled, '#' where nothing can ever lie, a letter for a piece in play and the same in
// lower case for its ghost, which is where it would come to rest, a digit for a seat's cell,
// and ':' in ink 0 for an empty cell that the rules speak of.
type Board struct {
	Name  string
	W, H  int
	Cells []byte  // W*H glyphs, see below
	Ink   []uint8 // W*H colours, 0 background to 15; what they mean is the viewer's palette
}

// Reset empties the frame and keeps its memory.
func (f *Frame) Reset() { f.Boards, f.Notes, f.Trays = f.Boards[:0], f.Notes[:0], f.Trays[:0] }

// Add appends a board of empty cells and returns it.
func (f *Frame) Add(name string, w, h int) *Board {
	b := Board{Name: name, W: w, H: h, Cells: []byte(strings.Repeat(".", w*h)), Ink: make([]uint8, w*h)}
	f.Boards = append(f.Boards, b)
	return &f.Boards[len(f.Boards)-1]
}

// Tray appends an empty tray and returns it.
func (f *Frame) Tray(name string, seat int) *Tray {
	f.Trays = append(f.Trays, Tray{Name: name, Seat: seat})
	return &f.Trays[len(f.Trays)-1]
}

// Add appends a piece of n cells, cell k at column and row at(k) of any origin.
func (t *Tray) Add(glyph byte, ink uint8, n int, at func(k int) (x, y int)) {
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
	b := Board{W: w, H: h, Cells: []byte(strings.Repeat(".", w*h)), Ink: make([]uint8, w*h)}
	for k := 0; k < n; k++ {
		x, y := at(k)
		b.Set(x-left, y-top, glyph, ink)
	}
	t.Pieces = append(t.Pieces, b)
}

// Unghost empties the cells of ghosts: letters in lower case but x.
func (b *Board) Unghost() {
	for k, c := range b.Cells {
		if c >= 'a' && c <= 'z' && c != 'x' {
			b.Cells[k], b.Ink[k] = '.', 0
		}
	}
}

// Note appends a line of notes.
func (f *Frame) Note(line string) { f.Notes = append(f.Notes, line) }

// Set paints the cell in column x, row y; cells outside the board are left out.
func (b *Board) Set(x, y int, glyph byte, ink uint8) {
	if x >= 0 && x < b.W && y >= 0 && y < b.H {
		b.Cells[y*b.W+x], b.Ink[y*b.W+x] = glyph, ink
	}
}

// String lays the boards out side by side as plain text, notes below.
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
			return string(b.Cells[y*b.W : (y+1)*b.W])
		})
	}
	for _, n := range f.Notes {
		out.WriteString(n + "\n")
	}
	return out.String()
}
