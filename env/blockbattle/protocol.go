package blockbattle

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Dialect is how the lines of the contest look: its own, or those of the port (rules §13.2).
type Dialect int

// The dialects.
const (
	ClassicDialect Dialect = iota
	PortDialect
	BetaDialect // ClassicDialect as bots of the first rules know it: time_bank, and no skips
)

// Names returns how the dialect calls the players of seats 0 and 1 (rules §8.1).
func (d Dialect) Names() []string {
	if d == PortDialect {
		return []string{"player0", "player1"}
	}
	return []string{"player1", "player2"}
}

// Settings returns the lines that a seat gets once (rules §8.1). Times are in milliseconds.
func (d Dialect) Settings(seat int, bank, perMove int64) []string {
	names := d.Names()
	timebank := "settings timebank " + strconv.FormatInt(bank, 10)
	if d == BetaDialect {
		timebank = strings.Replace(timebank, "timebank", "time_bank", 1)
	}
	move := "settings time_per_move " + strconv.FormatInt(perMove, 10)
	who := "settings player_names " + names[0] + "," + names[1]
	you := "settings your_bot " + names[seat]
	width := "settings field_width " + strconv.Itoa(Width)
	height := "settings field_height " + strconv.Itoa(Height)
	if d == PortDialect {
		return []string{who, you, timebank, move, height, width}
	}
	return []string{timebank, move, who, you, width, height}
}

// Request returns the lines for a seat in a round (rules §8.2, §13.2). The bank is in milliseconds.
func (d Dialect) Request(s *State, seat int, bank int64) []string {
	lines := []string{
		"update game round " + strconv.Itoa(int(s.Round)),
		"update game this_piece_type " + Letters[s.Piece:s.Piece+1],
		"update game next_piece_type " + Letters[s.Next:s.Next+1],
		"update game this_piece_position " + strconv.Itoa(SpawnX(int(s.Piece))) + ",-1",
	}
	counts := []string{"row_points", "combo", "skips"}
	if d == BetaDialect {
		counts = counts[:2]
	}
	if d == PortDialect {
		for i := range s.Sides {
			lines = append(append(lines, d.counts(s, i, counts)...), d.field(s, i))
		}
		return append(lines, "action move "+strconv.FormatInt(bank, 10))
	}
	lines = append(append(lines, d.counts(s, seat, counts)...), d.field(s, seat), d.field(s, 1-seat))
	return append(append(lines, d.counts(s, 1-seat, counts)...), "action moves "+strconv.FormatInt(bank, 10))
}

// counts returns the lines with some of one player's counters.
func (d Dialect) counts(s *State, seat int, keys []string) (lines []string) {
	side := &s.Sides[seat]
	for i, key := range keys {
		n := [...]int32{side.Points, side.Combo, side.Skips}[i]
		lines = append(lines, "update "+d.Names()[seat]+" "+key+" "+strconv.Itoa(int(n)))
	}
	return lines
}

// field returns the line with one player's board.
func (d Dialect) field(s *State, seat int) string {
	return "update " + d.Names()[seat] + " field " + s.Sides[seat].Field(int(s.Piece))
}

// Cells of a field string (rules §2).
const (
	cellEmpty   = '0'
	cellFalling = '1'
	cellBlock   = '2'
	cellSolid   = '3'
)

// FieldLen is the length of a field string.
const FieldLen = 2*Width*Height - 1

// ReadField makes the board that of a field string (rules §8.3), without the falling piece. An error changes nothing.
func (side *Side) ReadField(text string) error {
	if len(text) != FieldLen {
		return fmt.Errorf("%d characters, want %d", len(text), FieldLen)
	}
	next := Side{}
	for i := 0; i < FieldLen; i++ {
		x, y := i/2%Width, i/2/Width
		switch c := text[i]; {
		case i%2 == 1:
			if end := x == Width-1; end && c != ';' || !end && c != ',' {
				return fmt.Errorf("%q after row %d, column %d", c, y, x)
			}
		case c < cellEmpty || c > cellSolid:
			return fmt.Errorf("%q in row %d, column %d", c, y, x)
		case c == cellSolid && x == 0:
			next.Solid++
		case c == cellSolid && text[i-2] != cellSolid:
			return errors.New("a row that is solid only in part")
		case c != cellSolid && next.Solid > 0:
			return errors.New("a cell below or beside solid ones is not solid")
		case c == cellBlock:
			next.Cells.Set(x, y)
		}
	}
	side.Cells, side.Solid = next.Cells, next.Solid
	return nil
}

// Field returns the board as a field string, with a fresh piece on it; -1 is none.
func (side *Side) Field(piece int) string {
	out := make([]byte, 0, FieldLen+1)
	for y := 0; y < Height; y++ {
		for x := 0; x < Width; x++ {
			cell := byte(cellEmpty)
			switch {
			case y >= Height-int(side.Solid):
				cell = cellSolid
			case side.Cells.At(x, y):
				cell = cellBlock
			}
			out = append(out, cell, ',')
		}
		out[len(out)-1] = ';'
	}
	if piece >= 0 {
		_, cells := Box(piece, 0)
		for _, c := range cells {
			if c.Y == 1 { // in the row below the top edge of the box, which is above the board (rules §3)
				out[2*(SpawnX(piece)+int(c.X))] = cellFalling
			}
		}
	}
	return string(out[:FieldLen])
}
