package dropblox

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest/picture"
	"blockyard/env/envtest/rulebook"
)

// looks are those of blocks.
var looks = map[byte]picture.Look{'B': picture.Inks[2], 'P': picture.Inks[0]}

// block draws a block as it appears.
func block(kind int) picture.Panel {
	b := BlockOf(kind)
	t := NewShape(&b).Turn[0]
	rows := picture.Draw(int(t.High.J-t.Low.J)+1, int(t.High.I-t.Low.I)+1, func(x, y int) byte {
		if slices.Contains(b.Cells(), Cell{int8(y) + t.Low.I, int8(x) + t.Low.J}) {
			return 'B'
		}
		return ' '
	})
	texts := map[[2]int]string{{int(-t.Low.J), int(-t.Low.I)}: "o"}
	return picture.Panel{Caption: fmt.Sprint(kind), Rows: rows, Looks: looks, Texts: texts}
}

func TestPictureBlocks(t *testing.T) {
	var all []picture.Panel
	for kind := range len(drawn) {
		all = append(all, block(kind))
	}
	rows := slices.Collect(slices.Chunk(all, 11))
	picture.Keep(t, "blocks", picture.SVG("The types 0 to 28 as they appear; o marks the centre", rows...))
}

// board draws rows first to last with a block if b is not nil.
func board(s *State, first, last int, b *Block, caption string) picture.Panel {
	rows := picture.Draw(Cols, last-first+1, func(j, y int) byte {
		i := first + y
		switch {
		case b != nil && slices.Contains(b.Cells(), Cell{int8(i) - b.Center.I, int8(j) - b.Center.J}):
			return 'B'
		case s.Taken[j]>>uint(i)&1 != 0:
			return '#'
		case i < Hidden:
			return ':'
		}
		return '.'
	})
	return picture.Panel{Caption: caption, Rows: rows, Looks: looks}
}

// numbered adds numbers of rows and columns to a panel.
func numbered(p picture.Panel, first int) picture.Panel {
	p.Left, p.Columns = picture.Numbers(first, first+len(p.Rows)-1), true
	return p
}

func TestPictureBoard(t *testing.T) {
	s := scene(t, 12, "............")
	b := s.Block(0)
	p := numbered(board(s, 0, Rows-1, &b, "type 12 appears"), 0)
	p.Lines = []int{Hidden}
	p.Right = make([]string, Rows)
	p.Right[4] = "hidden"
	picture.Keep(t, "board", picture.SVG("The board: rows 0 to 8 are hidden", []picture.Panel{p}))
}

// carry moves a block by commands, of which all or none are possible.
func carry(t *testing.T, s *State, b *Block, words string, possible bool) {
	for _, word := range rulebook.Words(t, words) {
		c, _ := ParseCommand(word)
		require.Equal(t, possible, c.Carry(b, &s.Taken), word)
	}
}

func TestPictureMoves(t *testing.T) {
	s := scene(t, 1, "#####.###### ####...##### #####.######")
	b := s.Block(0)
	var panels []picture.Panel
	for k, caption := range []string{"left, down 22 times", "rotate", "left", "up: ignored"} {
		carry(t, s, &b, []string{"left down*22", "rotate", "left", "up"}[k], k < 3)
		panels = append(panels, board(s, 28, 32, &b, caption))
	}
	panels[0] = numbered(panels[0], 28)
	picture.Keep(t, "moves", picture.SVG("Commands move and turn a block; what is not possible is ignored", panels))
}

func TestPictureClear(t *testing.T) {
	s := scene(t, 4, "##.......... ##########.. ###########. ##########.. ###########.")
	b, before := s.Block(0), *s
	const right = "right*5"
	carry(t, s, &b, right, true)
	b.Drop(&s.Taken)
	require.Equal(t, 2, s.Turn(rulebook.Words(t, right)...).Rows)
	picture.Keep(t, "clear", picture.SVG("Two full rows are removed and the rows above move down", []picture.Panel{
		numbered(board(&before, 26, 32, nil, "before"), 26),
		board(&before, 26, 32, &b, "dropped: rows 30, 32 full"),
		board(s, 26, 32, nil, "removed: 3 points"),
	}))
}
