package tetrisduel

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/picture"
	"blockyard/env/falling"
)

// looks are those of the blocks' letters and of the zones.
var looks = func() map[byte]picture.Look {
	out := map[byte]picture.Look{'r': picture.RedZone, 'm': picture.MidZone, 'b': picture.BlueZone,
		'1': picture.Red, '2': picture.Blue}
	for k := range Letters {
		out[Letters[k]] = picture.Inks[k]
	}
	return out
}()

// covers reports whether a block covers a cell.
func covers(block byte, at Placement, x, y int) bool {
	cell := falling.Cell{X: int8(x - at.X), Y: int8(y - at.Y)}
	return slices.Contains(offsets[strings.IndexByte(Letters, block)][at.D][:], cell)
}

// board draws the rows first to last of a board in the mover's frame with a block on it if block is not ' '.
func board(b *falling.Field, first, last int, block byte, at Placement) []string {
	return picture.Draw(Width, last-first+1, func(x, row int) byte {
		y := first + row
		switch {
		case block != ' ' && covers(block, at, x, y):
			return block
		case b.At(x, y):
			return '#'
		case y < Peace:
			return 'r'
		}
		return '.'
	})
}

func TestPictureBlocks(t *testing.T) {
	var rows [][]picture.Panel
	for kind := range Kinds {
		var row []picture.Panel
		for d := range Directions {
			above := 1 // rows shown above the centre, and below it
			if kind == 0 {
				above = 2
			}
			rows := picture.Draw(5, 2*above+1, func(x, y int) byte {
				if covers(Letters[kind], Placement{above, 2, d}, x, y) {
					return Letters[kind]
				}
				return ' '
			})
			row = append(row, picture.Panel{
				Caption: fmt.Sprintf("%d %c, %d", kind+1, Letters[kind], d), Rows: rows, Looks: looks,
				Texts: map[[2]int]string{{2, above}: "o"},
			})
		}
		rows = append(rows, row)
	}
	wide := [][]picture.Panel{rows[0]}
	for k := 1; k < len(rows); k += 2 {
		wide = append(wide, append(rows[k], rows[k+1]...))
	}
	picture.Keep(t, "blocks", picture.SVG("The seven blocks by number, letter and direction; o marks the centre", wide...))
}

func TestPictureZones(t *testing.T) {
	var panels []picture.Panel
	for seat, name := range []string{"seat 1's frame", "seat 2's frame"} {
		rows := picture.Draw(Width, Height, func(x, y int) byte {
			frames := [2][2]int{{x, y}, {Width - 1 - x, Height - 1 - y}}
			one, two := frames[seat], frames[1-seat]
			switch {
			case covers('T', Placement{1, 2, 2}, one[0], one[1]):
				return '1'
			case covers('L', Placement{2, 2, 1}, two[0], two[1]):
				return '2'
			case y < Peace:
				return "rb"[seat]
			case y < Reachable:
				return 'm'
			}
			return "br"[seat]
		})
		p := picture.Panel{Caption: name, Rows: rows, Looks: looks, Left: picture.Numbers(0, Height-1),
			Lines: []int{Peace, Reachable}, Columns: true, Right: make([]string, Height)}
		p.Right[4], p.Right[12], p.Right[19] = "RB"[seat:seat+1], "M", "BR"[seat:seat+1]
		p.Right[1], p.Right[22] = []string{"↓ red", "↓ blue"}[seat], []string{"↑ blue", "↑ red"}[seat]
		panels = append(panels, p)
	}
	picture.Keep(t, "zones", picture.SVG("The zones R, M and B in the frames of both seats", panels))
}

// legal fails if a placement of the pictures is not one of the list.
func legal(t *testing.T, b *falling.Field, block byte, at Placement) {
	require.Contains(t, Placements(b, strings.IndexByte(Letters, block), false, nil), at.Action())
}

func TestPictureSpin(t *testing.T) {
	b := drawn(t, "#.#....... .......... ..........")
	legal(t, &b, 'L', Placement{13, 1, 1})
	picture.Keep(t, "spin", picture.SVG("An L slides under an overhang and turns", []picture.Panel{
		{Caption: "falls to 13 4 0", Rows: board(&b, 10, 14, 'L', Placement{13, 4, 0}), Looks: looks,
			Left: picture.Numbers(10, 14), Columns: true},
		{Caption: "turned: 13 4 2", Rows: board(&b, 10, 14, 'L', Placement{13, 4, 2}), Looks: looks},
		{Caption: "slid: 13 1 2", Rows: board(&b, 10, 14, 'L', Placement{13, 1, 2}), Looks: looks},
		{Caption: "turned: 13 1 1", Rows: board(&b, 10, 14, 'L', Placement{13, 1, 1}), Looks: looks},
	}))
}

func TestPictureClears(t *testing.T) {
	for _, c := range []struct {
		name, title, board string
		first              int
		block              byte
		at                 Placement
		want               [2]int
	}{
		{"peace", "A clear in the peace zone: rows 10 to 14 stay",
			"#......... ##........ ##........ ###...#... ########.. .######### #######.## ##......## #.......## ..........",
			5, 'O', Placement{9, 8, 0}, [2]int{1, 0}},
		{"battle", "A clear in the battle zone: full and empty rows vanish, and all other rows move to row 14",
			".....###.. #...####.. ##.####### .......### .......... ..........",
			8, 'T', Placement{10, 2, 2}, [2]int{0, 1}},
	} {
		b := drawn(t, c.board)
		legal(t, &b, c.block, c.at)
		after := b
		Put(&after, strings.IndexByte(Letters, c.block), c.at)
		peace, battle := Clear(&after)
		require.Equal(t, c.want, [2]int{peace, battle}, c.name)
		picture.Keep(t, c.name, picture.SVG(c.title, []picture.Panel{
			{Caption: "before", Rows: board(&b, c.first, 14, ' ', c.at), Looks: looks,
				Left: picture.Numbers(c.first, 14), Lines: []int{Peace - c.first}, Columns: true},
			{Caption: fmt.Sprintf("%c at %s", c.block, Text(c.at.Action())), Rows: board(&b, c.first, 14, c.block, c.at), Looks: looks, Lines: []int{Peace - c.first}},
			{Caption: fmt.Sprintf("p = %d, w = %d", c.want[0], c.want[1]), Rows: board(&after, c.first, 14, ' ', c.at), Looks: looks, Lines: []int{Peace - c.first}},
		}))
	}
}
