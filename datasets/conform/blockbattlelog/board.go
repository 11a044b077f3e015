package blockbattlelog

import (
	"fmt"
	"strings"

	"blockyard/env/blockbattle"
)

// spawnRows are the pieces' boxes as they spawn, in the order of blockbattle.Letters.
var spawnRows = [blockbattle.Pieces]string{
	"0000/1111/0000/0000",
	"100/111/000",
	"001/111/000",
	"11/11",
	"011/110/000",
	"010/111/000",
	"110/011/000",
}

// box is piece's box after rot turns right: its rows joined by '/', 1 a cell.
func box(piece, rot int) string {
	rows := strings.Split(spawnRows[piece], "/")
	for ; rot > 0; rot-- {
		n := len(rows)
		turned := make([]string, n)
		for y := range turned {
			for x := range n {
				turned[y] += string(rows[n-1-x][y])
			}
		}
		rows = turned
	}
	return strings.Join(rows, "/")
}

// corner is the column of the left edge of piece's box when it spawns; its top edge is in
// row -1.
func corner(piece int) int {
	return (blockbattle.Width - strings.Count(spawnRows[piece], "/") - 1) / 2
}

// spawnCells calls visit with each cell of a freshly spawned piece that is on the board,
// until it returns false, and reports whether it never did.
func spawnCells(piece int, visit func(x, y int) bool) bool {
	for i, row := range strings.Split(spawnRows[piece], "/") {
		for j := range row {
			if row[j] == '1' && i > 0 && !visit(corner(piece)+j, i-1) {
				return false
			}
		}
	}
	return true
}

// spawns is the spawn test.
func spawns(side *blockbattle.Side, piece int) bool {
	return spawnCells(piece, func(x, y int) bool {
		return y < blockbattle.Height-int(side.Solid) && !side.Cells.At(x, y)
	})
}

// field paints a board as transcripts do: rows from the top joined by ';', ten codes a row.
// A piece that is falling is painted over it; -1 is none.
func field(side *blockbattle.Side, piece int) string {
	var out strings.Builder
	board := paint(side, piece)
	for y, row := range board {
		if y > 0 {
			out.WriteByte(';')
		}
		out.Write(row[:])
	}
	return out.String()
}

func paint(side *blockbattle.Side, piece int) (board [blockbattle.Height][blockbattle.Width]byte) {
	for y := range board {
		for x := range board[y] {
			switch {
			case y >= blockbattle.Height-int(side.Solid):
				board[y][x] = '3'
			case side.Cells.At(x, y):
				board[y][x] = '2'
			default:
				board[y][x] = '0'
			}
		}
	}
	if piece >= 0 {
		spawnCells(piece, func(x, y int) bool { board[y][x] = '1'; return true })
	}
	return board
}

// commas turns a transcript's board into the protocol's, with commas between the codes of a row.
func commas(board string) string {
	out := make([]byte, 0, 2*len(board))
	for i := range len(board) {
		if i > 0 && board[i] != ';' && board[i-1] != ';' {
			out = append(out, ',')
		}
		out = append(out, board[i])
	}
	return string(out)
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
				return side, fmt.Errorf("board row %d: no cell has code %q", y, row[x])
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
		err = fmt.Errorf("a board whose cells are not parted by single commas")
	}
	return side, err
}

// pieceOf is the number of a piece's letter.
func pieceOf(letter string) (int, error) {
	if i := strings.Index(blockbattle.Letters, letter); i >= 0 && len(letter) == 1 {
		return i, nil
	}
	return 0, fmt.Errorf("no piece %q", letter)
}

// player is a seat's name in a transcript.
func player(seat int) string { return [2]string{"player1", "player2"}[seat] }
