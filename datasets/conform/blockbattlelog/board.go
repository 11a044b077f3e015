package blockbattlelog

import (
	"bytes"
	"fmt"
	"strings"

	"blockyard/env/blockbattle"
)

// box is piece's box after rot turns to the right: its rows joined by '/', with 1 for a cell.
func box(piece, rot int) string {
	side, cells := blockbattle.Box(piece, rot)
	rows := bytes.Repeat(append(bytes.Repeat([]byte("0"), side), '/'), side)
	for _, c := range cells {
		rows[int(c.Y)*(side+1)+int(c.X)] = '1'
	}
	return string(rows[:len(rows)-1])
}

// field is a side's board as in a transcript: rows from the top joined by ';', with ten codes per row.
// The falling piece is painted over it; -1 is none.
func field(side *blockbattle.Side, piece int) string {
	const stride = blockbattle.Width + 1
	board := bytes.Repeat([]byte("0000000000;"), blockbattle.Height)
	for y := range blockbattle.Height {
		for x := range blockbattle.Width {
			if y >= blockbattle.Height-int(side.Solid) {
				board[y*stride+x] = '3'
			} else if side.Cells.At(x, y) {
				board[y*stride+x] = '2'
			}
		}
	}
	if piece >= 0 {
		_, cells := blockbattle.Box(piece, 0)
		for _, c := range cells {
			if c.Y > 0 { // the top row of the box is above the board
				board[int(c.Y-1)*stride+blockbattle.SpawnX(piece)+int(c.X)] = '1'
			}
		}
	}
	return string(board[:len(board)-1])
}

// startField is a side's board at the start of a round. The piece of a side that has lost is not on it.
func startField(side *blockbattle.Side, piece, seat int, lost []blockbattle.Loss) string {
	if has(lost, seat) {
		piece = -1
	}
	return field(side, piece)
}

// commas turns a transcript's board into the protocol's, with commas between the codes of a row.
func commas(board string) string {
	rows := strings.Split(board, ";")
	for i, row := range rows {
		rows[i] = strings.Join(strings.Split(row, ""), ",")
	}
	return strings.Join(rows, ";")
}

// parseField reads a board of codes 0, 2 and 3, and 1, which counts as empty. The solid
// rows must be whole and at the bottom.
func parseField(text string) (side blockbattle.Side, err error) {
	rows := strings.Split(text, ";")
	if len(rows) != blockbattle.Height {
		return side, fmt.Errorf("a board of %d rows, want %d", len(rows), blockbattle.Height)
	}
	for y, row := range rows {
		if len(row) != blockbattle.Width {
			return side, fmt.Errorf("board row %d has %d cells, want %d", y, len(row), blockbattle.Width)
		}
		solid := strings.Count(row, "3")
		if solid != 0 && solid != blockbattle.Width || solid == 0 && side.Solid > 0 {
			return side, fmt.Errorf("board row %d: solid rows must be whole and at the bottom", y)
		}
		if solid > 0 {
			side.Solid++
			continue
		}
		for x := range row {
			switch row[x] {
			case '0', '1':
			case '2':
				side.Cells.Set(x, y)
			default:
				return side, fmt.Errorf("board row %d: cell %q, want 0 to 3", y, row[x])
			}
		}
	}
	return side, nil
}

// parseProtocolField reads a board with commas between the codes.
func parseProtocolField(text string) (blockbattle.Side, error) {
	plain := strings.ReplaceAll(text, ",", "")
	side, err := parseField(plain)
	if err == nil && commas(plain) != text {
		err = fmt.Errorf("board %q, want single commas between the cells", text)
	}
	return side, err
}

func pieceOf(letter string) (int, error) {
	if i := strings.Index(blockbattle.Letters, letter); i >= 0 && len(letter) == 1 {
		return i, nil
	}
	return -1, fmt.Errorf("piece %q, want one of %s", letter, blockbattle.Letters)
}

func player(seat int) string { return [2]string{"player1", "player2"}[seat] }
