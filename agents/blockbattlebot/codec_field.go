package blockbattlebot

import (
	"errors"
	"fmt"

	"blockyard/env/blockbattle"
)

// Cells of a field string (rules §2).
const (
	cellEmpty   = '0'
	cellFalling = '1'
	cellBlock   = '2'
	cellSolid   = '3'
)

// fresh has the cells of row 0 that a piece covers at spawn, bit x for column x; the rest
// of it is above the board (rules §3). spawnX is the column of its box's left edge.
var (
	fresh = [blockbattle.Pieces]uint16{
		blockbattle.I: 15 << 3, blockbattle.J: 7 << 3, blockbattle.L: 7 << 3, blockbattle.O: 3 << 4,
		blockbattle.S: 3 << 3, blockbattle.T: 7 << 3, blockbattle.Z: 3 << 4,
	}
	spawnX = [blockbattle.Pieces]int{3, 3, 3, 4, 3, 3, 3}
)

const fieldLen = 2*blockbattle.Width*blockbattle.Height - 1

// readField makes side's board the one a field string tells (rules §13.3), without the
// falling piece. On an error the board stays as it was.
func readField(side *blockbattle.Side, text string) error {
	if len(text) != fieldLen {
		return fmt.Errorf("%d characters, want %d", len(text), fieldLen)
	}
	next := blockbattle.Side{}
	for i := 0; i < fieldLen; i++ {
		x, y := i/2%blockbattle.Width, i/2/blockbattle.Width
		if i%2 == 1 {
			want := byte(',')
			if x == blockbattle.Width-1 {
				want = ';'
			}
			if text[i] != want {
				return fmt.Errorf("%q after row %d, column %d", text[i], y, x)
			}
			continue
		}
		switch text[i] {
		case cellEmpty, cellFalling:
			if next.Solid > 0 {
				return errors.New("a cell below or beside solid ones is not solid")
			}
		case cellBlock:
			if next.Solid > 0 {
				return errors.New("a block below or beside solid cells")
			}
			next.Cells.Set(x, y)
		case cellSolid:
			if x == 0 {
				next.Solid++
			} else if text[i-2] != cellSolid {
				return errors.New("a row that is solid only in part")
			}
		default:
			return fmt.Errorf("%q in row %d, column %d", text[i], y, x)
		}
	}
	side.Cells, side.Solid = next.Cells, next.Solid
	return nil
}

// appendField writes side's board with the fresh piece on it.
func appendField(dst []byte, side *blockbattle.Side, piece int) []byte {
	at := len(dst)
	for y := 0; y < blockbattle.Height; y++ {
		for x := 0; x < blockbattle.Width; x++ {
			cell := byte(cellEmpty)
			switch {
			case y >= blockbattle.Height-int(side.Solid):
				cell = cellSolid
			case side.Cells.At(x, y):
				cell = cellBlock
			}
			dst = append(dst, cell, ',')
		}
		dst[len(dst)-1] = ';'
	}
	for x := 0; x < blockbattle.Width; x++ {
		if fresh[piece]>>uint(x)&1 != 0 {
			dst[at+2*x] = cellFalling
		}
	}
	return dst[:len(dst)-1]
}
