package dropblox

import (
	"fmt"
	"strings"
	"testing"

	"blockyard/env/envtest/picture"
)

// looks are those of blocks.
var looks = map[byte]picture.Look{'B': picture.Inks[2], 'P': picture.Inks[0]}

// block draws a block as it appears.
func block(kind int) picture.Panel {
	b := BlockOf(kind)
	t := NewShape(&b).Turn[0]
	rows := make([][]byte, t.High.I-t.Low.I+1)
	for k := range rows {
		rows[k] = []byte(strings.Repeat(" ", int(t.High.J-t.Low.J)+1))
	}
	for _, c := range b.Cells() {
		rows[c.I-t.Low.I][c.J-t.Low.J] = 'B'
	}
	p := picture.Panel{Caption: fmt.Sprint(kind), Looks: looks, Texts: map[[2]int]string{{int(-t.Low.J), int(-t.Low.I)}: "o"}}
	for _, row := range rows {
		p.Rows = append(p.Rows, string(row))
	}
	return p
}

func TestPictureBlocks(t *testing.T) {
	var rows [][]picture.Panel
	for from := 0; from < len(drawn); from += 11 {
		var row []picture.Panel
		for kind := from; kind < min(from+11, len(drawn)); kind++ {
			row = append(row, block(kind))
		}
		rows = append(rows, row)
	}
	picture.Keep(t, "blocks", picture.SVG("The types 0 to 28 as they appear; o marks the centre", rows...))
}

// board draws rows first to last with a block if b is not nil.
func board(s *State, first, last int, b *Block) picture.Panel {
	p := picture.Panel{Looks: looks}
	for i := first; i <= last; i++ {
		row := []byte(strings.Repeat(".", Cols))
		for j := range row {
			if s.Taken[j]>>uint(i)&1 != 0 {
				row[j] = '#'
			} else if i < Hidden {
				row[j] = ':'
			}
		}
		if b != nil {
			for _, c := range b.Cells() {
				if int(b.Center.I+c.I) == i {
					row[b.Center.J+c.J] = 'B'
				}
			}
		}
		p.Rows = append(p.Rows, string(row))
	}
	return p
}

// numbered adds numbers of rows and columns to a panel.
func numbered(p picture.Panel, first int, caption string) picture.Panel {
	p.Caption, p.Columns = caption, true
	for k := range p.Rows {
		p.Left = append(p.Left, fmt.Sprint(first+k))
	}
	return p
}

func TestPictureBoard(t *testing.T) {
	s := scene(t, 12, "............")
	b := s.Block(0)
	p := numbered(board(s, 0, Rows-1, &b), 0, "type 12 appears")
	p.Lines = []int{Hidden}
	p.Right = make([]string, Rows)
	p.Right[4] = "hidden"
	picture.Keep(t, "board", picture.SVG("The board: rows 0 to 8 are hidden", []picture.Panel{p}))
}

func TestPictureMoves(t *testing.T) {
	s := scene(t, 1, "#####.###### ####...##### #####.######")
	b := s.Block(0)
	var panels []picture.Panel
	for k, step := range []string{"left down*22", "rotate", "left", "up"} {
		for _, word := range repeated(t, step) {
			c, _ := ParseCommand(word)
			if legal := c.Carry(&b, &s.Taken); legal == (k == 3) {
				t.Fatalf("%s in panel %d: legal is %v", word, k, legal)
			}
		}
		p := board(s, 28, 32, &b)
		p.Caption = step
		switch k {
		case 0:
			p = numbered(p, 28, "left, down 22 times")
		case 3:
			p.Caption += ": ignored"
		}
		panels = append(panels, p)
	}
	picture.Keep(t, "moves", picture.SVG("Commands move and turn a block; what is not possible is ignored", panels))
}

func TestPictureClear(t *testing.T) {
	s := scene(t, 4, "##.......... ##########.. ###########. ##########.. ###########.")
	b := s.Block(0)
	for _, word := range repeated(t, "right*9") {
		c, _ := ParseCommand(word)
		c.Carry(&b, &s.Taken)
	}
	b.Drop(&s.Taken)
	before := *s
	if rows := s.Turn(repeated(t, "right*9")...).Rows; rows != 2 {
		t.Fatalf("%d rows", rows)
	}
	after := board(s, 26, 32, nil)
	after.Caption = "removed: 3 points"
	at := board(&before, 26, 32, &b)
	at.Caption = "dropped: rows 30, 32 full"
	picture.Keep(t, "clear", picture.SVG("Two full rows are removed and the rows above move down", []picture.Panel{
		numbered(board(&before, 26, 32, nil), 26, "before"), at, after,
	}))
}
