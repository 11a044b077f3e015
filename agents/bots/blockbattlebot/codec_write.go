package blockbattlebot

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// Names returns the names of the seats in d.
func (d Dialect) Names() []string {
	if d == PortDialect {
		return []string{"player0", "player1"}
	}
	return []string{"player1", "player2"}
}

// settings returns the lines that a seat gets once (rules §8.1).
func (d Dialect) settings(seat int, l contest.Limits) []string {
	names := d.Names()
	bank := "settings timebank " + millis(l.Bank)
	if d == BetaDialect {
		bank = "settings time_bank " + millis(l.Bank)
	}
	move := "settings time_per_move " + millis(l.PerMove)
	who := "settings player_names " + names[0] + "," + names[1]
	you := "settings your_bot " + names[seat]
	width := "settings field_width " + strconv.Itoa(blockbattle.Width)
	height := "settings field_height " + strconv.Itoa(blockbattle.Height)
	if d == PortDialect {
		return []string{who, you, bank, move, height, width}
	}
	return []string{bank, move, who, you, width, height}
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// request returns the lines for a seat in a round (rules §8.2, §13.2), the request itself last.
func (d Dialect) request(s *blockbattle.State, seat int, bank time.Duration) []string {
	lines := []string{
		"update game round " + strconv.Itoa(int(s.Round)),
		"update game this_piece_type " + letter(s.Piece),
		"update game next_piece_type " + letter(s.Next),
		"update game this_piece_position " + strconv.Itoa(blockbattle.SpawnX(int(s.Piece))) + ",-1",
	}
	if d == PortDialect {
		lines = append(append(lines, d.side(s, 0)...), d.side(s, 1)...)
		return append(lines, "action move "+millis(bank))
	}
	lines = append(lines, d.side(s, seat)...)
	op := d.side(s, 1-seat)
	lines = append(lines, op[3], op[0], op[1], op[2])
	if d == BetaDialect {
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, " skips ") })
	}
	return append(lines, "action moves "+millis(bank))
}

func letter(piece uint8) string { return blockbattle.Letters[piece : piece+1] }

// side returns the lines with one player's counters and board.
func (d Dialect) side(s *blockbattle.State, seat int) []string {
	side := &s.Sides[seat]
	who := "update " + d.Names()[seat]
	return []string{
		who + " row_points " + strconv.Itoa(int(side.Points)),
		who + " combo " + strconv.Itoa(int(side.Combo)),
		who + " skips " + strconv.Itoa(int(side.Skips)),
		who + " field " + string(appendField(nil, side, int(s.Piece))),
	}
}

// Request implements contest.Codec.
func (c *Codec) Request(s env.State, t contest.Turn) (lines []string) {
	if !c.opened {
		c.opened = true
		lines = c.Dialect.settings(t.Seat, contest.Limits{Bank: t.Budget, PerMove: t.PerMove})
	}
	return append(lines, c.Dialect.request(s.(*blockbattle.State), t.Seat, t.Budget)...)
}

// Judge implements contest.Codec. An answer is never refused: the rules make a move of every
// line.
func (c *Codec) Judge(s env.State, seat int, answer string) env.Action {
	a, _ := Judge(c.Dialect, s.(*blockbattle.State), seat, answer)
	return a
}
