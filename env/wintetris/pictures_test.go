package wintetris

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/picture"
)

var looks = picture.Letters(Letters)

// board draws the rows first down to last, counted from the floor, with pieces in play. Rows above the
// field are shaded.
func board(f *Field, first, last int, pieces ...Block) []string {
	return picture.Draw(Width, first-last+1, func(x, row int) byte {
		y := first - row
		for _, b := range pieces {
			if cells := b.Cells(); slices.Contains(cells[:], [2]int{x, y}) {
				return Letters[b.Kind]
			}
		}
		switch {
		case y >= Height:
			return ':'
		case f.At(x, y):
			return '#'
		}
		return '.'
	})
}

func TestPicturePieces(t *testing.T) {
	var all [][]picture.Panel
	for kind := range uint8(Kinds) {
		var row []picture.Panel
		for r := range uint8(Rotations) {
			n, cells := Size(kind), (Block{Kind: kind, Rot: r}).Cells()
			rows := picture.Draw(4, n, func(x, y int) byte {
				switch {
				case slices.Contains(cells[:], [2]int{x, n - 1 - y}):
					return Letters[kind]
				case x < n:
					return '.'
				}
				return ' '
			})
			row = append(row, picture.Panel{Caption: fmt.Sprintf("%d %c, %d", kind, Letters[kind], r), Rows: rows, Looks: looks})
		}
		all = append(all, row)
	}
	picture.Keep(t, "pieces", picture.SVG("The seven pieces in their boxes by kind, letter and rotation", picture.Pairs(all)...))
}

func TestPictureSpawn(t *testing.T) {
	var all [2][]picture.Panel
	for kind := range uint8(Kinds) {
		all[kind/4] = append(all[kind/4], picture.Panel{Caption: Letters[kind : kind+1],
			Rows: board(&Field{}, 20, 16, Spawn(kind)), Left: picture.Numbers(20, 16), Looks: looks, Lines: []int{1}})
	}
	picture.Keep(t, "spawn", picture.SVG("Where each piece appears, in rows 18 and 19", all[0], all[1]))
}

func TestPictureTicks(t *testing.T) {
	e := scene(t, "T", ".....#.... .....#....")
	panels := []picture.Panel{{Caption: "the piece appears", Rows: board(&e.Field, 19, 14, e.Piece),
		Left: picture.Numbers(19, 14), Looks: looks, Columns: true}}
	for _, text := range []string{"wait", "cw+left", "left"} {
		e.Tick(answers(t, text)[0])
		panels = append(panels, picture.Panel{Caption: text, Rows: board(&e.Field, 19, 14, e.Piece), Looks: looks})
	}
	picture.Keep(t, "ticks", picture.SVG("Three ticks: gravity; a turn and a step; a step. The piece falls a row in each", panels))
}

// markTwo marks the cells of rows 0 to 4 for which is holds, and wants two of them, as the caption says.
func markTwo(t *testing.T, p picture.Panel, mark string, is func(x, y int) bool) picture.Panel {
	p.Texts = map[[2]int]string{}
	for y := range 5 {
		for x := range Width {
			if is(x, y) {
				p.Texts[[2]int{x, 4 - y}] = mark
			}
		}
	}
	require.Len(t, p.Texts, 2, p.Caption)
	return p
}

func TestPictureRating(t *testing.T) {
	e := scene(t, "S", "....#..... ....##....")
	f := e.Field
	b := f.Fall(e.Piece.Moved(-1, 0))
	cells := b.Cells()
	after := picture.Panel{Caption: "S: two holes, h", Rows: board(&f, 4, 0, b), Looks: looks, Left: picture.Numbers(4, 0), Columns: true}
	after = markTwo(t, after, "h", func(x, y int) bool {
		own := func(y int) bool { return slices.Contains(cells[:], [2]int{x, y}) }
		return own(y+1) && !own(y) && !f.At(x, y)
	})
	f.Set(2, 0)
	f.Set(7, 0)
	chasms := picture.Panel{Caption: "two chasms, c", Rows: board(&f, 4, 0), Looks: looks}
	chasms = markTwo(t, chasms, "c", func(x, y int) bool { return !f.At(x, y) && f.At(x-1, y) && f.At(x+1, y) })
	picture.Keep(t, "rating", picture.SVG("A hole below a placed piece; chasms between filled cells", []picture.Panel{after, chasms}))
}

func TestPictureClear(t *testing.T) {
	e := scene(t, "I", "##..#..... #########. ########.. #########.")
	before := e.Field
	target := before.Fall(e.Piece.Turned(1).Moved(4, 0))
	for _, bits := range answers(t, "cw right*4 drop") {
		e.Tick(bits)
	}
	require.EqualValues(t, 2, e.Lines, "the caption says two")
	picture.Keep(t, "clear", picture.SVG("Two full rows vanish and the rows above move down", []picture.Panel{
		{Caption: "before", Rows: board(&before, 5, 0), Left: picture.Numbers(5, 0), Columns: true},
		{Caption: "I locked: rows 0, 2 full", Rows: board(&before, 5, 0, target), Looks: looks},
		{Caption: "cleared: 2 lines", Rows: board(&e.Field, 5, 0)},
	}))
}
