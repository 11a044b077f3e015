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

// field is a side's board as in a transcript: that of the protocol without commas; piece -1 is none.
func field(side *blockbattle.Side, piece int) string {
	return strings.ReplaceAll(side.Field(piece), ",", "")
}

// startField is a side's board at the start of a round. The piece of a side that has lost is not on it.
func startField(side *blockbattle.Side, piece, seat int, lost []blockbattle.Loss) string {
	if has(lost, seat) {
		piece = -1
	}
	return field(side, piece)
}

// parseField reads such a board. The falling piece counts as empty.
func parseField(text string) (side blockbattle.Side, err error) {
	rows := strings.Split(text, ";")
	for y, row := range rows {
		if len(row) != blockbattle.Width {
			return side, fmt.Errorf("board row %d has %d cells, want %d", y, len(row), blockbattle.Width)
		}
		rows[y] = strings.Join(strings.Split(row, ""), ",")
	}
	if err = side.ReadField(strings.Join(rows, ";")); err != nil {
		err = fmt.Errorf("board: %w", err)
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
