package blocking

import (
	"errors"
	"fmt"
	"hash/fnv"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"

	"blockyard/env"
)

// An Oriented is a letter in one of its forms: flipped and rotated.
type Oriented struct {
	Letter     int
	Flip, Turn int        // the first pair that gives this form
	W, H       int        // size of its box
	Cells      []Cell     // in the box, by row then column
	Base       env.Action // id of the placement with the box at (0,0)
}

// A Table is everything that follows from the definitions of 21 shapes.
type Table struct {
	Shapes   [Letters]Shape
	Oriented []Oriented // by letter, then by first flip and rotation
	Actions  int

	first [Letters + 1]int      // the forms of letter l are Oriented[first[l]:first[l+1]]
	form  [Letters][2][4]int    // index in Oriented by letter, flip, rotation
	at    [Letters][2][4][]Cell // squares by letter, flip, rotation, in the order of their numbers
	owner []uint8               // index in Oriented of every id

	blocks []*block // the fits
	single uint32   // letters of one square
}

// DefaultTable is the shape table of rules §3.1.
var DefaultTable = func() *Table {
	shapes, err := ReadShapes(strings.NewReader(defaultShapes))
	if err != nil {
		panic(err)
	}
	return NewTable(shapes)
}()

// NewTable creates the table of 21 definitions and numbers the placements.
func NewTable(shapes [Letters]Shape) *Table {
	t := &Table{Shapes: shapes}
	for l := range shapes {
		t.first[l] = len(t.Oriented)
		if len(shapes[l].Squares) == 1 {
			t.single |= 1 << uint(l)
		}
		for flip := 0; flip < 2; flip++ {
			for turn := 0; turn < 4; turn++ {
				squares, w, h := shapes[l].turned(flip, turn)
				t.at[l][flip][turn] = squares
				cells := append([]Cell(nil), squares...)
				sort.Slice(cells, func(i, j int) bool { return cells[i].before(cells[j]) })
				t.form[l][flip][turn] = t.add(Oriented{Letter: l, Flip: flip, Turn: turn, W: w, H: h, Cells: cells})
			}
		}
	}
	t.first[Letters] = len(t.Oriented)
	t.blocks = newBlocks(t)
	return t
}

// add returns the index of a form. It appends the form if the letter does not have it yet.
func (t *Table) add(o Oriented) int {
	for i := t.first[o.Letter]; i < len(t.Oriented); i++ {
		if SameCells(t.Oriented[i].Cells, o.Cells) {
			return i
		}
	}
	o.Base = env.Action(t.Actions)
	for n := (Size + 1 - o.W) * (Size + 1 - o.H); n > 0; n-- {
		t.owner = append(t.owner, uint8(len(t.Oriented)))
		t.Actions++
	}
	t.Oriented = append(t.Oriented, o)
	return len(t.Oriented) - 1
}

// same reports whether two tables have equal definitions.
func (t *Table) same(u *Table) bool { return fmt.Sprint(t.Shapes) == fmt.Sprint(u.Shapes) }

// Lines returns the definitions as ReadShapes reads them, in the order of the letters.
func (t *Table) Lines() (lines []string) {
	for l := range t.Shapes {
		s := &t.Shapes[l]
		lines = append(lines, fmt.Sprintf("%c %d %d %s", 'A'+l, s.Cols, s.Rows, s.Text))
	}
	return lines
}

// Forms returns the oriented pieces of a letter.
func (t *Table) Forms(letter int) []Oriented { return t.Oriented[t.first[letter]:t.first[letter+1]] }

// Placement returns the oriented piece of an id and the top left corner of its box.
func (t *Table) Placement(a env.Action) (o *Oriented, x, y int) {
	o = &t.Oriented[t.owner[a]]
	at, across := int(a-o.Base), Size+1-o.W
	return o, at % across, at / across
}

// A Code is a move as the contest writes it (rules §4.1): square N of letter L, flipped F times
// and then rotated R times, lies on cell (X, Y).
type Code struct{ X, Y, L, F, R, N int }

// String returns the move as an answer writes it: column, row and the four characters of its code (rules §8.3).
func (c Code) String() string { return fmt.Sprintf("%d %d %s", c.X, c.Y, c.Name()) }

// Name returns the four characters of the code: letter, flip, rotations and square, such as A001 (rules §4.1).
func (c Code) Name() string { return fmt.Sprintf("%c%d%d%d", 'A'+c.L, c.F, c.R, c.N) }

// ParseCode reads the three tokens of an answer (rules §8.3). It checks ranges only.
func (t *Table) ParseCode(line string) (Code, error) {
	fields := strings.Fields(line)
	var c Code
	bad := fmt.Errorf("%q: want column row code, such as 0 0 A001", line)
	if len(fields) != 3 || len(fields[2]) != 4 {
		return c, bad
	}
	for i, to := range []*int{&c.X, &c.Y} {
		n, err := strconv.ParseUint(fields[i], 10, 8)
		if *to = int(n); err != nil || len(fields[i]) > 2 {
			return Code{}, bad
		}
	}
	code := fields[2]
	c.L, c.F, c.R, c.N = int(code[0])-'A', int(code[1])-'0', int(code[2])-'0', int(code[3])-'0'
	if c.L < 0 || c.L >= Letters || c.F < 0 || c.F > 1 || c.R < 0 || c.R > 3 ||
		c.N < 1 || c.N > len(t.Shapes[c.L].Squares) || c.X >= Size || c.Y >= Size {
		return c, fmt.Errorf("%q: no such shape, flip, rotation, square or cell", line)
	}
	return c, nil
}

// Action returns the id of a code, or None if a square is off the board.
func (t *Table) Action(c Code) env.Action {
	o := &t.Oriented[t.form[c.L][c.F][c.R]]
	anchor := t.at[c.L][c.F][c.R][c.N-1]
	x, y := c.X-int(anchor.X), c.Y-int(anchor.Y)
	if x < 0 || y < 0 || x+o.W > Size || y+o.H > Size {
		return env.None
	}
	return o.Base + env.Action(y*(Size+1-o.W)+x)
}

// tables holds the shape tables in use, by State.TableID.
//
// A State must be flat: it is copied by assignment, compared with == and encoded field by field. It therefore holds
// no pointer to its table but the table's id, a number that CopyFrom, Hide, Encode and Decode treat like any other
// field. The id is derived from the definitions, so that two processes that use the same table agree on it. Readers
// load an entry without a lock, and an entry never changes once it is set, so Use may run beside games in progress.
var tables = func() (out [256]atomic.Value) {
	out[0].Store(DefaultTable)
	return out
}()

// Table returns the shapes that the game is played with, or nil if TableID names none.
func (s *State) Table() *Table {
	t, _ := tables[s.TableID].Load().(*Table)
	return t
}

// SameTable implements env.Tabled: it compares the ids of the two shape tables.
func (s *State) SameTable(as env.State) bool { return s.TableID == as.(*State).TableID }

// Use makes a shape table available to States and returns its State.TableID: 0 for the default one, else a hash of the
// definitions or the next free number. It returns an error if all 256 numbers are taken.
func Use(t *Table) (id uint8, err error) {
	if DefaultTable.same(t) {
		return 0, nil
	}
	h := fnv.New32a()
	for l := range t.Shapes {
		h.Write([]byte{byte(t.Shapes[l].Cols), byte(t.Shapes[l].Rows)})
		h.Write([]byte(t.Shapes[l].Text))
	}
	for n := uint32(0); n < 255; n++ {
		id = uint8(1 + (h.Sum32()+n)%255)
		if tables[id].CompareAndSwap(nil, t) || tables[id].Load().(*Table).same(t) {
			return id, nil
		}
	}
	return 0, errors.New("blocking: 256 shape tables are in use, want fewer")
}
