package wintetris

import (
	"fmt"
	"strings"
	"testing"

	"blockyard/env/envtest/picture"
)

// looks are those of the pieces' letters.
var looks = func() map[byte]picture.Look {
	out := map[byte]picture.Look{}
	for k := range Letters {
		out[Letters[k]] = picture.Inks[k]
	}
	return out
}()

// board draws the rows first down to last, counted from the floor, with pieces in play. Rows above the
// field are shaded.
func board(f *Field, first, last int, pieces ...Block) []string {
	var out []string
	for y := first; y >= last; y-- {
		row := []byte(strings.Repeat(".", Width))
		for x := range row {
			switch {
			case y >= Height:
				row[x] = ':'
			case f.At(x, y):
				row[x] = '#'
			}
		}
		for _, b := range pieces {
			for _, c := range b.Cells() {
				if c[1] == y {
					row[c[0]] = Letters[b.Kind]
				}
			}
		}
		out = append(out, string(row))
	}
	return out
}

// rows are labels of the rows first down to last.
func rows(first, last int) (out []string) {
	for y := first; y >= last; y-- {
		out = append(out, fmt.Sprint(y))
	}
	return out
}

func TestPicturePieces(t *testing.T) {
	var all [][]picture.Panel
	for kind := range uint8(Kinds) {
		var row []picture.Panel
		for r := range uint8(Rotations) {
			n := Size(kind)
			cells := make([][]byte, n)
			for k := range cells {
				cells[k] = []byte(strings.Repeat(".", n) + strings.Repeat(" ", 4-n))
			}
			for _, c := range (Block{Kind: kind, Rot: r}).Cells() {
				cells[n-1-c[1]][c[0]] = Letters[kind]
			}
			p := picture.Panel{Caption: fmt.Sprintf("%d %c, %d", kind, Letters[kind], r), Looks: looks}
			for _, row := range cells {
				p.Rows = append(p.Rows, string(row))
			}
			row = append(row, p)
		}
		if kind%2 == 0 {
			all = append(all, row)
		} else {
			all[len(all)-1] = append(all[len(all)-1], row...)
		}
	}
	picture.Keep(t, "pieces", picture.SVG("The seven pieces in their boxes by kind, letter and rotation", all...))
}

func TestPictureSpawn(t *testing.T) {
	var all [2][]picture.Panel
	for kind := range uint8(Kinds) {
		k := kind / 4
		all[k] = append(all[k], picture.Panel{
			Caption: Letters[kind : kind+1], Rows: board(&Field{}, 20, 16, Spawn(kind)), Left: rows(20, 16), Looks: looks, Lines: []int{1},
		})
	}
	picture.Keep(t, "spawn", picture.SVG("Where each piece appears, in rows 18 and 19", all[0], all[1]))
}

func TestPictureTicks(t *testing.T) {
	e := scene(t, "T", ".....#.... .....#....")
	panels := []picture.Panel{{
		Caption: "the piece appears", Rows: board(&e.Field, 19, 14, e.Piece), Left: rows(19, 14), Looks: looks, Columns: true,
	}}
	for _, text := range []string{"wait", "cw+left", "left"} {
		e.Tick(answers(t, text)[0])
		panels = append(panels, picture.Panel{Caption: text, Rows: board(&e.Field, 19, 14, e.Piece), Looks: looks})
	}
	picture.Keep(t, "ticks", picture.SVG("Three ticks: gravity; a turn and a step; a step. The piece falls a row in each", panels))
}

func TestPictureRating(t *testing.T) {
	e := scene(t, "S", "....#..... ....##....")
	b := e.Field.Fall(e.Piece.Moved(-1, 0))
	after := picture.Panel{Caption: "S: two holes, h", Rows: board(&e.Field, 4, 0, b), Looks: looks, Texts: map[[2]int]string{}}
	holes := 0
	for _, c := range b.Cells() {
		below := [2]int{c[0], c[1] - 1}
		own := false
		for _, d := range b.Cells() {
			own = own || d == below
		}
		if c[1] > 0 && !own && !e.Field.At(below[0], below[1]) {
			after.Texts[[2]int{below[0], 4 - below[1]}] = "h"
			holes++
		}
	}
	if holes != 2 {
		t.Fatalf("%d holes, the caption says two", holes)
	}
	chasms := picture.Panel{Caption: "two chasms, c", Rows: board(&e.Field, 4, 0), Looks: looks, Texts: map[[2]int]string{}}
	e.Field.Set(2, 0)
	e.Field.Set(7, 0)
	chasms.Rows = board(&e.Field, 4, 0)
	found := 0
	for y := range 5 {
		for x := range Width {
			if !e.Field.At(x, y) && e.Field.At(x-1, y) && e.Field.At(x+1, y) {
				chasms.Texts[[2]int{x, 4 - y}] = "c"
				found++
			}
		}
	}
	if found != 2 {
		t.Fatalf("%d chasms, the caption says two", found)
	}
	after.Left, after.Columns = rows(4, 0), true
	picture.Keep(t, "rating", picture.SVG("A hole below a placed piece; chasms between filled cells", []picture.Panel{after, chasms}))
}

func TestPictureClear(t *testing.T) {
	e := scene(t, "I", "##..#..... #########. ########.. #########.")
	before := e.Field
	target := before.Fall(e.Piece.Turned(1).Moved(4, 0))
	for _, bits := range answers(t, "cw right*4 drop") {
		e.Tick(bits)
	}
	if e.Lines != 2 {
		t.Fatalf("%d lines, the caption says two", e.Lines)
	}
	picture.Keep(t, "clear", picture.SVG("Two full rows vanish and the rows above move down", []picture.Panel{
		{Caption: "before", Rows: board(&before, 5, 0), Left: rows(5, 0), Columns: true},
		{Caption: "I locked: rows 0, 2 full", Rows: board(&before, 5, 0, target), Looks: looks},
		{Caption: "cleared: 2 lines", Rows: board(&e.Field, 5, 0)},
	}))
}
