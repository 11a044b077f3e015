package blockbattle

import (
	"fmt"
	"strings"
	"testing"

	"blockyard/env/envtest/picture"
)

// cells draws a piece's box.
func cells(piece, rot int) []string {
	side, list := Box(piece, rot)
	rows := make([][]byte, side)
	for y := range rows {
		rows[y] = []byte(strings.Repeat(".", side) + strings.Repeat(" ", 4-side))
	}
	for _, c := range list {
		rows[c.Y][c.X] = Letters[piece]
	}
	return text(rows)
}

func text(rows [][]byte) (out []string) {
	for _, row := range rows {
		out = append(out, string(row))
	}
	return out
}

// looks are those of the pieces' letters.
var looks = func() map[byte]picture.Look {
	out := map[byte]picture.Look{}
	for p := range Letters {
		out[Letters[p]] = picture.Inks[p]
	}
	return out
}()

func TestPicturePieces(t *testing.T) {
	var rows [][]picture.Panel
	for piece := range Pieces {
		var row []picture.Panel
		for rot := range 4 {
			row = append(row, picture.Panel{Caption: fmt.Sprintf("%c %d", Letters[piece], rot), Rows: cells(piece, rot), Looks: looks})
		}
		rows = append(rows, row)
	}
	// Two columns of pieces.
	var wide [][]picture.Panel
	for k := 0; k < len(rows); k += 2 {
		row := rows[k]
		if k+1 < len(rows) {
			row = append(row, rows[k+1]...)
		}
		wide = append(wide, row)
	}
	picture.Keep(t, "pieces", picture.SVG("The seven pieces in their boxes, orientations 0 to 3", wide...))
}

// board draws a side's rows from first on, with a piece on it if l is not nil.
func board(d *Side, first int, l *Landing) []string {
	rows := make([][]byte, Height-first)
	for y := range rows {
		rows[y] = []byte(strings.Repeat(".", Width))
		for x := range rows[y] {
			if y+first >= d.floor() {
				rows[y][x] = '='
			} else if y+first >= 0 && d.Cells.At(x, y+first) {
				rows[y][x] = '#'
			}
		}
		if y+first < 0 {
			rows[y] = []byte(strings.Repeat(":", Width))
		}
	}
	if l != nil {
		for _, c := range pieces[l.Piece].Cells[l.Rot] {
			rows[l.Y+int(c.Y)-first][l.X+int(c.X)] = Letters[l.Piece]
		}
	}
	return text(rows)
}

// numbers are labels of rows.
func numbers(first, n int) (out []string) {
	for y := range n {
		out = append(out, fmt.Sprint(first+y))
	}
	return out
}

func TestPictureSpawn(t *testing.T) {
	var top, bottom []picture.Panel
	for piece := range Pieces {
		p := picture.Panel{
			Caption: fmt.Sprintf("%c", Letters[piece]), Looks: looks, Left: numbers(-1, 4), Lines: []int{1},
			Rows: board(&Side{}, -1, &Landing{Piece: piece, X: SpawnX(piece), Y: -1})[:4],
		}
		if piece < 4 {
			top = append(top, p)
		} else {
			bottom = append(bottom, p)
		}
	}
	picture.Keep(t, "spawn", picture.SVG("Where each piece appears: rows -1 to 2, row -1 is above the board", top, bottom))
}

// play executes an answer on a board of its lowest rows and returns the position before, with the
// landing, and after the round.
func play(t *testing.T, s *State, answer string, draws ...uint16) (land Landing, after State, rep Report) {
	t.Helper()
	tokens, odd := ParseAnswer(answer, nil)
	if len(odd) > 0 {
		t.Fatalf("answer %q has odd parts %q", answer, odd)
	}
	land, _ = Execute(&s.Sides[0], int(s.Piece), tokens, s.Rules)
	after = *s
	after.Force(draws)
	lands := [2]Landing{land, {Piece: int(s.Piece), X: SpawnX(int(s.Piece)), Y: -1, Skipped: true}}
	after.Sides[1].Skips++
	after.Play(&lands, &rep)
	return land, after, rep
}

func TestPictureClear(t *testing.T) {
	s := drawn(t, "I", "##..#..... #######... ########.. #########. #########.")
	land, after, _ := play(t, s, "turnright,right,right,right,right,drop")
	before := s.Sides[0]
	rest := before
	rest.lock(&land)
	picture.Keep(t, "clear", picture.SVG("Two full rows vanish and the rows above move down", []picture.Panel{
		{Caption: "before", Rows: board(&before, 13, nil), Left: numbers(13, 7), Columns: true},
		{Caption: "I locked: rows 18, 19 full", Rows: board(&before, 13, &land), Looks: looks},
		{Caption: "cleared: 3 points", Rows: board(&after.Sides[0], 13, nil)},
	}))
}

func TestPictureTSpin(t *testing.T) {
	s := drawn(t, "T", "......#... ####...### #####.####")
	d := &s.Sides[0]
	air := Landing{Piece: T, Rot: 3, X: 4, Y: 17}
	land, _, _ := play(t, s, "turnleft,right,"+strings.Repeat("down,", 18)+"turnleft")
	if !land.TSpin {
		t.Fatal("this is no T-spin")
	}
	corners := picture.Panel{Caption: "corners: 3 blocks", Rows: board(d, 14, &land), Looks: looks, Texts: map[[2]int]string{}}
	for _, c := range [4][2]int{{0, 0}, {2, 0}, {0, 2}, {2, 2}} {
		mark := "-"
		if d.Cells.At(land.X+c[0], land.Y+c[1]) {
			mark = "+"
		}
		corners.Texts[[2]int{land.X + c[0], land.Y + c[1] - 14}] = mark
	}
	picture.Keep(t, "tspin", picture.SVG("A T-spin: the T is turned into a place under an overhang", []picture.Panel{
		{Caption: "at rest in orientation 3", Rows: board(d, 14, &air), Left: numbers(14, 6), Looks: looks, Columns: true},
		corners,
	}))
}

func TestPictureGarbage(t *testing.T) {
	s := drawn(t, "O", "##........ ####...##.")
	s.Sides[0].Solid = 1
	s.Sides[0].Cells.Raise(1)
	before := s.Sides[0]
	s.Round = 15
	after := *s
	after.Force([]uint16{2, 4, 5, 0, 8})
	after.garbage(1, 3, 3, nil)
	garbage := after.Sides[0]
	solid := garbage
	solid.solid()
	picture.Keep(t, "garbage", picture.SVG("Garbage rows come in above the solid rows; a solid row comes in at the bottom", []picture.Panel{
		{Caption: "before", Rows: board(&before, 12, nil), Left: numbers(12, 8), Columns: true},
		{Caption: "3 garbage rows", Rows: board(&garbage, 12, nil)},
		{Caption: "and a solid row", Rows: board(&solid, 12, nil)},
	}))
}
