package blocking

import (
	"fmt"
	"io"
	"math/bits"
	"strings"
)

// The sizes of the rules.
const (
	Size       = 13 // side of the board
	Letters    = 21 // shapes in a table: A..U
	maxSquares = 5  // largest number of squares in a shape
)

// A Cell is a column and a row.
type Cell struct{ X, Y int8 }

// before orders cells by row, then column.
func (c Cell) before(d Cell) bool { return c.Y < d.Y || c.Y == d.Y && c.X < d.X }

// SameCells reports whether two lists of cells are equal.
func SameCells(a, b []Cell) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// A Shape is the definition of one letter (rules §3.1). Square n is at Squares[n-1].
type Shape struct {
	Cols, Rows int
	Text       string // Cols*Rows of '#' and '.', row by row
	Squares    []Cell
}

// defaultShapes is the shape table of rules §3.1.
const defaultShapes = `A 1 1 #
B 2 1 ##
C 3 1 ###
D 2 2 ###.
E 4 1 ####
F 3 2 ####..
G 3 2 ###.#.
H 2 2 ####
I 3 2 ##..##
J 5 1 #####
K 4 2 #####...
L 4 2 ###...##
M 3 2 #####.
N 3 2 ####.#
O 4 2 ####.#..
P 3 3 ####..#..
Q 3 3 ###.#..#.
R 3 3 ##..##..#
S 3 3 ##..#..##
T 3 3 ##..##.#.
U 3 3 .#.###.#.
`

// ReadShapes reads 21 lines of ParseShapes, one for each letter.
func ReadShapes(r io.Reader) (shapes [Letters]Shape, err error) {
	const most = 1 << 16 // bytes
	text, err := io.ReadAll(io.LimitReader(r, most))
	if err != nil {
		return shapes, fmt.Errorf("shapes: %w", err)
	}
	shapes, defined, err := ParseShapes(strings.Split(string(text), "\n"))
	if n := bits.OnesCount32(defined); err == nil && n != Letters {
		err = fmt.Errorf("shapes: %d of %d letters are defined", n, Letters)
	}
	return shapes, err
}

// ParseShapes reads lines "letter cols rows string" in any order, and returns as bits which letters they define. It
// returns an error that names the line if a letter is outside A..U or defined twice, the string has another length than
// cols*rows, the shape has no square or more than five, or its squares are not connected by sides.
func ParseShapes(lines []string) (shapes [Letters]Shape, defined uint32, err error) {
	for n, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		letter, s, err := parseShape(line)
		if err == nil && defined>>uint(letter)&1 != 0 {
			err = fmt.Errorf("%c is defined twice", 'A'+letter)
		}
		if err != nil {
			return shapes, defined, fmt.Errorf("shapes, line %d: %w", n+1, err)
		}
		shapes[letter] = s
		defined |= 1 << uint(letter)
	}
	return shapes, defined, nil
}

// parseShape reads one line.
func parseShape(line string) (letter int, s Shape, err error) {
	var name string
	if n, err := fmt.Sscanf(line, "%s %d %d %s", &name, &s.Cols, &s.Rows, &s.Text); n != 4 || err != nil {
		return 0, s, fmt.Errorf("%q: want letter cols rows string", line)
	}
	if len(name) != 1 || name[0] < 'A' || name[0] >= 'A'+Letters {
		return 0, s, fmt.Errorf("no letter %q", name)
	}
	if s.Cols < 1 || s.Rows < 1 || s.Cols > Size || s.Rows > Size || len(s.Text) != s.Cols*s.Rows {
		return 0, s, fmt.Errorf("%s: %d x %d and %q do not agree", name, s.Cols, s.Rows, s.Text)
	}
	for i, c := range s.Text {
		switch c {
		case '#':
			s.Squares = append(s.Squares, Cell{int8(i % s.Cols), int8(i / s.Cols)})
		case '.':
		default:
			return 0, s, fmt.Errorf("%s: %q where # or . must stand", name, c)
		}
	}
	if len(s.Squares) < 1 || len(s.Squares) > maxSquares {
		return 0, s, fmt.Errorf("%s: %d squares, want 1 to %d", name, len(s.Squares), maxSquares)
	}
	if !s.connected() {
		return 0, s, fmt.Errorf("%s: squares that are not connected by their sides", name)
	}
	return int(name[0] - 'A'), s, nil
}

// connected reports whether all squares are connected by their sides.
func (s *Shape) connected() bool {
	reached := uint(1)
	for again := true; again; {
		again = false
		for i, c := range s.Squares {
			for j, d := range s.Squares {
				x, y := int(c.X)-int(d.X), int(c.Y)-int(d.Y)
				if reached>>uint(i)&1 == 0 && reached>>uint(j)&1 != 0 && x*x+y*y == 1 {
					reached |= 1 << uint(i)
					again = true
				}
			}
		}
	}
	return reached == 1<<uint(len(s.Squares))-1
}

// turned returns the squares after flip transpositions followed by clockwise rotations (rules
// §3.2), moved so that their box starts at (0,0). The order of the squares does not change.
func (s *Shape) turned(flip, rotations int) (squares []Cell, w, h int) {
	squares = append(squares, s.Squares...)
	for i := range squares {
		c := &squares[i]
		if flip == 1 {
			c.X, c.Y = c.Y, c.X
		}
		for r := 0; r < rotations; r++ {
			c.X, c.Y = -c.Y, c.X
		}
	}
	left, top := squares[0].X, squares[0].Y
	for _, c := range squares {
		left = min(left, c.X)
		top = min(top, c.Y)
	}
	for i := range squares {
		c := &squares[i]
		c.X -= left
		c.Y -= top
		if int(c.X) >= w {
			w = int(c.X) + 1
		}
		if int(c.Y) >= h {
			h = int(c.Y) + 1
		}
	}
	return squares, w, h
}
