package tetrisduel

import (
	"fmt"
	"strings"
	"testing"

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

// grid returns n rows of cells.
func grid(n, width int, fill byte) [][]byte {
	rows := make([][]byte, n)
	for y := range rows {
		rows[y] = []byte(strings.Repeat(string(fill), width))
	}
	return rows
}

func text(rows [][]byte) (out []string) {
	for _, row := range rows {
		out = append(out, string(row))
	}
	return out
}

// board draws the rows first to last of a board in the mover's frame with a block on it if block is not ' '.
func board(b *falling.Field, first, last int, block byte, at Placement) []string {
	rows := grid(last-first+1, Width, '.')
	for y := range rows {
		for x := range rows[y] {
			switch {
			case b.At(x, y+first):
				rows[y][x] = '#'
			case y+first < Peace:
				rows[y][x] = 'r'
			}
		}
	}
	if block != ' ' {
		for _, c := range offsets[strings.IndexByte(Letters, block)][at.D] {
			rows[at.Y+int(c.Y)-first][at.X+int(c.X)] = block
		}
	}
	return text(rows)
}

func numbers(first, last int) (out []string) {
	for y := first; y <= last; y++ {
		out = append(out, fmt.Sprint(y))
	}
	return out
}

func TestPictureBlocks(t *testing.T) {
	var rows [][]picture.Panel
	for kind := range Kinds {
		var row []picture.Panel
		for d := range Directions {
			cells := grid(5, 5, ' ')
			top, bottom := 2, 2
			for _, c := range offsets[kind][d] {
				cells[2+c.Y][2+c.X] = Letters[kind]
				top, bottom = min(top, 2+int(c.Y)), max(bottom, 2+int(c.Y))
			}
			lo, hi := 1, 4 // rows shown
			if kind == 0 {
				lo, hi = 0, 5
			}
			row = append(row, picture.Panel{
				Caption: fmt.Sprintf("%d %c, %d", kind+1, Letters[kind], d), Rows: text(cells[lo:hi]), Looks: looks,
				Texts: map[[2]int]string{{2, 2 - lo}: "o"},
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
	whole := func(first, second byte) [][]byte {
		rows := append(grid(Peace, Width, first), grid(Reachable-Peace, Width, 'm')...)
		return append(rows, grid(Height-Reachable, Width, second)...)
	}
	lay := func(rows [][]byte, kind byte, at Placement, seat byte, turned bool) {
		for _, c := range offsets[strings.IndexByte(Letters, kind)][at.D] {
			y, x := at.Y+int(c.Y), at.X+int(c.X)
			if turned {
				y, x = Height-1-y, Width-1-x
			}
			rows[y][x] = seat
		}
	}
	var panels []picture.Panel
	for seat, name := range []string{"seat 1's frame", "seat 2's frame"} {
		rows, labels := whole('r', 'b'), []string{"R", "M", "B"}
		if seat == 1 {
			rows, labels = whole('b', 'r'), []string{"B", "M", "R"}
		}
		lay(rows, 'T', Placement{1, 2, 2}, '1', seat == 1)
		lay(rows, 'L', Placement{2, 2, 1}, '2', seat == 0)
		p := picture.Panel{Caption: name, Rows: text(rows), Looks: looks, Left: numbers(0, Height-1), Lines: []int{Peace, Reachable}, Columns: true}
		p.Right = make([]string, Height)
		p.Right[4], p.Right[12], p.Right[19] = labels[0], labels[1], labels[2]
		p.Right[1], p.Right[22] = "↓ red", "↑ blue"
		if seat == 1 {
			p.Right[1], p.Right[22] = "↓ blue", "↑ red"
		}
		panels = append(panels, p)
	}
	picture.Keep(t, "zones", picture.SVG("The zones R, M and B in the frames of both seats", panels))
}

// legal fails if a placement of the pictures is not one of the list.
func legal(t *testing.T, b *falling.Field, block byte, at Placement) {
	t.Helper()
	for _, a := range Placements(b, strings.IndexByte(Letters, block), false, nil) {
		if a == at.Action() {
			return
		}
	}
	t.Fatalf("%v is no legal placement of %c", at, block)
}

func TestPictureSpin(t *testing.T) {
	b := drawn(t, "#.#....... .......... ..........")
	legal(t, &b, 'L', Placement{13, 1, 1})
	picture.Keep(t, "spin", picture.SVG("An L slides under an overhang and turns", []picture.Panel{
		{Caption: "falls to 13 4 0", Rows: board(&b, 10, 14, 'L', Placement{13, 4, 0}), Looks: looks, Left: numbers(10, 14), Columns: true},
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
		if peace, battle := Clear(&after); [2]int{peace, battle} != c.want {
			t.Fatalf("%s: cleared %d and %d rows", c.name, peace, battle)
		}
		picture.Keep(t, c.name, picture.SVG(c.title, []picture.Panel{
			{Caption: "before", Rows: board(&b, c.first, 14, ' ', c.at), Looks: looks, Left: numbers(c.first, 14), Lines: []int{Peace - c.first}, Columns: true},
			{Caption: fmt.Sprintf("%c at %s", c.block, Text(c.at.Action())), Rows: board(&b, c.first, 14, c.block, c.at), Looks: looks, Lines: []int{Peace - c.first}},
			{Caption: fmt.Sprintf("p = %d, w = %d", c.want[0], c.want[1]), Rows: board(&after, c.first, 14, ' ', c.at), Looks: looks, Lines: []int{Peace - c.first}},
		}))
	}
}
