package blocking

import (
	"crypto/sha1"
	_ "embed"
	"encoding/binary"
	"fmt"
	"strings"

	"blockyard/env"
)

// Game is Blocking with the default shape table.
var Game = newGame("blocking", "Blocking-v0", DefaultTable, 0)

// With returns Blocking with the shapes of a table, under the name "blocking:shapes=HASH", or Game if
// they are the default ones. HASH follows from the shapes, which are in Table of the result. It calls Use.
func With(t *Table) (*env.Game, error) {
	id, err := Use(t)
	if err != nil || id == 0 {
		return Game, err
	}
	lines := t.Lines()
	hash := fmt.Sprintf("%x", sha1.Sum([]byte(strings.Join(lines, "\n"))))[:12]
	g := newGame("blocking:shapes="+hash, "Blocking-shapes-"+hash+"-v0", t, id)
	g.Table = lines
	return g, nil
}

func newGame(name, id string, t *Table, table uint8) *env.Game {
	return &env.Game{
		Name: name, ID: id, Title: "Blocking", Rules: 1,
		MinSeats: 2, MaxSeats: 4, Rows: 1, Actions: t.Actions, MaxLegal: 2048,
		Planes: env.Shape{C: numPlanes, H: Size, W: Size}, PlaneMax: 1,
		PlaneNames:  []string{"own", "second", "third", "fourth", "connected"},
		GlobalNames: allGlobals.Names, GlobalRanges: allGlobals.Ranges,
		Potential: []env.Term{{Global: "own_points", Weight: 0.03}, {Global: "second_points", Weight: -0.01},
			{Global: "third_points", Weight: -0.01}, {Global: "fourth_points", Weight: -0.01}},
		New:  func(seats int) env.State { return New(seats, table) },
		Text: t.Text, Parse: env.Parser(env.Action(t.Actions), t.Text,
			"blocking: placement %q: want a form and its corner, such as Q01 at 4,5"),
	}
}

// New returns a position for 2 to 4 seats after Reset(0). table is an id that Use returned.
func New(seats int, table uint8) *State {
	s := &State{Seats: uint8(seats), TableID: table}
	env.Start(s, seats, 2, 4)
	return s
}

// Text returns an id as letter, flip, rotation and the corner of the box: "Q01 at 4,5".
func (t *Table) Text(a env.Action) string {
	o, x, y := t.Placement(a)
	return fmt.Sprintf("%c%d%d at %d,%d", 'A'+o.Letter, o.Flip, o.Turn, x, y)
}

const (
	numPlanes  = env.MaxSeats + 1
	numGlobals = env.MaxSeats*(Letters+3) + 3 + 1
)

var allGlobals = func() (g env.Globals) {
	order := []string{"own_", "second_", "third_", "fourth_"}
	for _, who := range order {
		for l := 0; l < Letters; l++ {
			g.Add(env.Flag, who+string(rune('A'+l)))
		}
	}
	for _, who := range order {
		g.Add(env.Range{Low: -1, High: Size * Size}, who+"points") // squares, or -1 if eliminated
	}
	for _, who := range order {
		g.Add(env.Flag, who+"active")
	}
	g.Add(env.Flag, "seat_0", "seat_1", "seat_2", "seat_3", "seats_2", "seats_3", "seats_4", "to_move")
	return g
}()

// flags maps four bits to four globals.
var flags = func() (out [16][4]float32) {
	for set := range out {
		for i := range out[set] {
			out[set][i] = float32(set >> uint(i) & 1)
		}
	}
	return out
}()

// Observe implements env.State. The planes, of 0 and 1, are the squares of each seat, from the observer on in the
// order of turns, and the observer's well-connected cells (rules §4.2). The globals are the letters left, the points
// and the activity of each seat in that order; then the observer's seat, the number of seats and whether it is to
// move.
func (s *State) Observe(seat int, planes []uint8, globals []float32) {
	const squares = Size * Size
	n := int(s.Seats)
	globals, unused := globals[:numGlobals], planes[n*squares:env.MaxSeats*squares]
	clear(unused)
	clear(globals)
	rest := globals[env.MaxSeats*Letters:]
	for i, who := 0, seat; i < n; i++ {
		s.Cells[who].paint(planes[i*squares:])
		left, has := s.Left[who], globals[i*Letters:]
		for l := 0; l < Letters-1; l += 4 {
			copy(has[l:l+4], flags[left>>uint(l)&15][:])
		}
		has[Letters-1] = float32(left >> (Letters - 1) & 1)
		rest[i] = float32(s.Score(who))
		if s.Reason == Running && !(s.Out | s.Stuck).Has(who) {
			rest[env.MaxSeats+i] = 1
		}
		if who++; who == n {
			who = 0
		}
	}
	_, connected := s.Open(seat)
	connected.paint(planes[env.MaxSeats*squares:])
	rest[2*env.MaxSeats+seat] = 1
	rest[3*env.MaxSeats+n-2] = 1
	if s.Acting().Has(seat) {
		rest[3*env.MaxSeats+3] = 1
	}
}

// paint writes a set as a plane of bytes, eight cells at once and thus beyond the end of a row before the next one.
func (b *Board) paint(out []uint8) {
	out = out[:Size*Size]
	for y := 0; y < Size-1; y++ {
		row := b[y/4] >> uint(y%4*stride)
		binary.LittleEndian.PutUint64(out[y*Size:], env.CellBytes[uint8(row)])
		binary.LittleEndian.PutUint64(out[y*Size+8:], env.CellBytes[uint8(row>>8)])
	}
	binary.LittleEndian.PutUint64(out[Size*(Size-1):], env.CellBytes[uint8(b[3])])
	binary.LittleEndian.PutUint64(out[Size*Size-8:], env.CellBytes[uint8(b[3]>>(Size-8))])
}

// Show implements env.State: the board, and a line of points and remaining letters for each seat.
func (s *State) Show(f *env.Frame) {
	b := f.Add("board", Size, Size)
	for seat := range s.Cells {
		for y := 0; y < Size; y++ {
			for x := 0; x < Size; x++ {
				if s.Cells[seat].Has(x, y) {
					b.Set(x, y, cell(seat))
				}
			}
		}
	}
	for seat := 0; seat < int(s.Seats); seat++ {
		mark := " "
		if s.Acting().Has(seat) {
			mark = ">"
		}
		f.Note(fmt.Sprintf("%s%d: %d points, has %s", mark, seat+1, s.Score(seat), LetterText(s.Left[seat])))
	}
	for set := s.Acting(); set != 0; set = set.Rest() {
		f.Fact(env.Everybody, "to move: seat", set.First()+1)
	}
	if s.Reason != Running {
		f.Note("over: " + s.Reason.String())
		f.Fact(env.Everybody, "over by", s.Reason)
	}
	for seat := 0; seat < int(s.Seats); seat++ {
		s.tray(f.Tray("left", seat), seat)
	}
}

// cell draws one cell of a seat. People count seats from 1.
func cell(seat int) env.Cell {
	return env.Cell{Kind: env.CellSeat, Letter: '1' + byte(seat), Ink: uint8(seat + 1)}
}

// tray adds the pieces that a seat has not laid.
func (s *State) tray(t *env.Tray, seat int) {
	for l := 0; l < Letters; l++ {
		if s.Left[seat]>>uint(l)&1 != 0 {
			cells := s.Table().Forms(l)[0].Cells
			t.Add(cell(seat), len(cells), func(k int) (x, y int) { return int(cells[k].X), int(cells[k].Y) })
		}
	}
}

// Mark implements env.Marker. The ghost has the letter of the piece.
func (s *State) Mark(f *env.Frame, seat int, a env.Action) {
	o, x, y := s.Table().Placement(a)
	for _, c := range o.Cells {
		ghost := env.Cell{Kind: env.CellGhost, Letter: 'A' + byte(o.Letter), Ink: uint8(seat + 1)}
		f.Boards[0].Set(x+int(c.X), y+int(c.Y), ghost)
	}
}

// Rulebook is the rules of the game for people, as Markdown.
//
//go:embed RULES.md
var Rulebook string
