package blockbattle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/picture"
	"blockyard/env/envtest/rulebook"
	"blockyard/env/falling"
)

var looks = picture.Letters(Letters)

func TestPicturePieces(t *testing.T) {
	var all [][]picture.Panel
	for piece := range Pieces {
		var row []picture.Panel
		for rot := range 4 {
			side, list := Box(piece, rot)
			rows := picture.Draw(4, side, func(x, y int) byte {
				switch {
				case slices.Contains(list, falling.Cell{X: int8(x), Y: int8(y)}):
					return Letters[piece]
				case x < side:
					return '.'
				}
				return ' '
			})
			row = append(row, picture.Panel{Caption: fmt.Sprintf("%c %d", Letters[piece], rot), Rows: rows, Looks: looks})
		}
		all = append(all, row)
	}
	picture.Keep(t, "pieces", picture.SVG("The seven pieces in their boxes, orientations 0 to 3", picture.Pairs(all)...))
}

// board draws a side's rows from first on, with pieces on it.
func board(d *Side, first int, pieces ...Landing) []string {
	return picture.Draw(Width, Height-first, func(x, row int) byte {
		y := first + row
		for _, l := range pieces {
			_, list := Box(l.Piece, l.Rot)
			if slices.Contains(list, falling.Cell{X: int8(x - l.X), Y: int8(y - l.Y)}) {
				return Letters[l.Piece]
			}
		}
		switch {
		case y < 0:
			return ':'
		case y >= d.floor():
			return '='
		case d.Cells.At(x, y):
			return '#'
		}
		return '.'
	})
}

func TestPictureSpawn(t *testing.T) {
	var all [2][]picture.Panel
	for piece := range Pieces {
		rows := board(&Side{}, -1, Landing{Piece: piece, X: SpawnX(piece), Y: -1})[:4]
		all[piece/4] = append(all[piece/4], picture.Panel{Caption: Letters[piece : piece+1], Rows: rows, Looks: looks,
			Left: picture.Numbers(-1, 2), Lines: []int{1}})
	}
	const title = "Where each piece appears: rows -1 to 2, row -1 is above the board"
	picture.Keep(t, "spawn", picture.SVG(title, all[0], all[1]))
}

// play executes an answer, with words such as "down*3", and returns the landing and the position after a round in which
// the opponent throws its piece away.
func play(t *testing.T, s *State, answer string) (land Landing, after State, rep Report) {
	words := rulebook.Words(t, strings.ReplaceAll(answer, ",", " "))
	tokens, odd := ParseAnswer(strings.Join(words, ","), nil)
	require.Empty(t, odd)
	land, _ = Execute(&s.Sides[0], int(s.Piece), tokens, s.Rules)
	after = *s
	lands := [2]Landing{land, {Piece: int(s.Piece), X: SpawnX(int(s.Piece)), Y: -1, Skipped: true}}
	after.Sides[1].Skips++
	after.Play(&lands, &rep)
	return land, after, rep
}

func TestPictureClear(t *testing.T) {
	s := drawn(t, "I", "##..#..... #######... ########.. #########. #########.")
	land, after, _ := play(t, s, "turnright,right*4,drop")
	before := &s.Sides[0]
	picture.Keep(t, "clear", picture.SVG("Two full rows vanish and the rows above move down", []picture.Panel{
		{Caption: "before", Rows: board(before, 13), Left: picture.Numbers(13, 19), Columns: true},
		{Caption: "I locked: rows 18, 19 full", Rows: board(before, 13, land), Looks: looks},
		{Caption: "cleared: 3 points", Rows: board(&after.Sides[0], 13)},
	}))
}

func TestPictureTSpin(t *testing.T) {
	s := drawn(t, "T", "......#... ####...### #####.####")
	d := &s.Sides[0]
	land, _, _ := play(t, s, "turnleft,right,down*18,turnleft")
	require.True(t, land.TSpin)
	rest := picture.Panel{Caption: "at rest in orientation 3", Rows: board(d, 14, Landing{Piece: T, Rot: 3, X: 4, Y: 17}),
		Left: picture.Numbers(14, 19), Looks: looks, Columns: true}
	corners := picture.Panel{Caption: "corners: 3 blocks", Rows: board(d, 14, land), Looks: looks,
		Texts: map[[2]int]string{}}
	for _, c := range [4][2]int{{0, 0}, {2, 0}, {0, 2}, {2, 2}} {
		x, y := land.X+c[0], land.Y+c[1]
		corners.Texts[[2]int{x, y - 14}] = map[bool]string{true: "+", false: "-"}[d.Cells.At(x, y)]
	}
	const title = "A T-spin: the T is turned into a place under an overhang"
	picture.Keep(t, "tspin", picture.SVG(title, []picture.Panel{rest, corners}))
}

func TestPictureGarbage(t *testing.T) {
	s := drawn(t, "O", "##........ ####...##. ==========")
	s.Round = 15
	after := *s
	after.Force([]uint16{2, 4, 5, 0, 8})
	after.garbage(1, 3, 3, nil)
	garbage := after.Sides[0]
	solid := garbage
	solid.solid()
	const title = "Garbage rows come in above the solid rows; a solid row comes in at the bottom"
	picture.Keep(t, "garbage", picture.SVG(title, []picture.Panel{
		{Caption: "before", Rows: board(&s.Sides[0], 12), Left: picture.Numbers(12, 19), Columns: true},
		{Caption: "3 garbage rows", Rows: board(&garbage, 12)},
		{Caption: "and a solid row", Rows: board(&solid, 12)},
	}))
}
