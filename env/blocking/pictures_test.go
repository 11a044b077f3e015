package blocking

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest/picture"
)

// looks are those of the players' cells.
var looks = map[byte]picture.Look{
	'0': picture.Red, '1': picture.Blue, '2': picture.Green, '3': picture.Inks[2],
	'S': picture.Inks[3], 'N': picture.Inks[2], 'Y': picture.Green, 'x': picture.Empty,
}

// form draws a letter, flipped and turned, with the numbers of its squares.
func form(letter, flip, turn int, caption string) picture.Panel {
	squares, w, h := DefaultTable.Shapes[letter].turned(flip, turn)
	p := picture.Panel{Caption: caption, Looks: looks, Texts: map[[2]int]string{}}
	p.Rows = picture.Draw(w, h, func(x, y int) byte {
		n := slices.Index(squares, Cell{X: int8(x), Y: int8(y)})
		if n < 0 {
			return ' '
		}
		p.Texts[[2]int{x, y}] = fmt.Sprint(n + 1)
		return 'S'
	})
	return p
}

func TestPictureShapes(t *testing.T) {
	rows := make([][]picture.Panel, 3)
	for l := range Letters {
		k := l / 7
		rows[k] = append(rows[k], form(l, 0, 0, LetterText(1<<l)))
	}
	picture.Keep(t, "shapes", picture.SVG("The shapes A to U with the numbers of their squares", rows...))
}

func TestPictureForms(t *testing.T) {
	rows := make([][]picture.Panel, 2)
	for f := range rows {
		for r := range 4 {
			rows[f] = append(rows[f], form('Q'-'A', f, r, fmt.Sprintf("Q%d%d", f, r)))
		}
	}
	picture.Keep(t, "forms", picture.SVG("Q flipped and rotated: the squares keep their numbers", rows...))
}

func TestPictureCorners(t *testing.T) {
	p := picture.Panel{Looks: looks, Left: picture.Numbers(0, Size-1), Columns: true, Texts: map[[2]int]string{}}
	p.Rows = picture.Draw(Size, Size, func(x, y int) byte {
		seat := slices.Index(starts[:], [2]int{x, y})
		if seat < 0 {
			return '.'
		}
		p.Texts[[2]int{x, y}] = fmt.Sprint(seat)
		return byte('0' + seat)
	})
	picture.Keep(t, "corners", picture.SVG("The start corners of players 0 to 3", []picture.Panel{p}))
}

// top draws the first rows of the board as player 0 gets it, with the squares of an answer as 'Y' or 'N'.
func top(s *State, caption, answer string, mark byte) picture.Panel {
	var cells Board
	if c, err := s.Table().ParseCode(answer); err == nil {
		o, x, y := s.Table().Placement(s.Table().Action(c))
		for _, cell := range o.Cells {
			cells.Set(x+int(cell.X), y+int(cell.Y))
		}
	}
	p := picture.Panel{Caption: caption, Looks: looks, Texts: map[[2]int]string{}}
	rows := s.Rows(0)
	p.Rows = picture.Draw(9, 7, func(x, y int) byte {
		if rows[y][x] == 'x' {
			p.Texts[[2]int{x, y}] = "x"
		}
		if cells.Has(x, y) {
			return mark
		}
		return rows[y][x]
	})
	return p
}

func TestPictureLegal(t *testing.T) {
	s := fresh(2)
	a, _ := s.Judge(0, "0 0 R001")
	s.Step(env.Alone(0, a))
	s.Step(env.Alone(1, s.Legal(1, nil)[0]))
	for answer, want := range map[string]bool{"3 0 D001": false, "3 3 G011": true, "5 4 H001": false} {
		_, legal := s.Judge(0, answer)
		require.Equal(t, want, legal, answer)
	}
	first := top(s, "x: well connected", "", 0)
	first.Left, first.Columns = picture.Numbers(0, 6), true
	picture.Keep(t, "legal", picture.SVG("Which placements are legal for player 0", []picture.Panel{
		first,
		top(s, "3 3 G011: legal", "3 3 G011", 'Y'),
		top(s, "3 0 D001: touches a side", "3 0 D001", 'N'),
		top(s, "5 4 H001: no corner", "5 4 H001", 'N'),
	}))
}
