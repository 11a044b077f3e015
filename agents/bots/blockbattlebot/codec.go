package blockbattlebot

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A Dialect is how the lines look: the contest's own, or those of the port (rules §13.2).
// The game behind them is the same.
type Dialect int

// The dialects.
const (
	ClassicDialect Dialect = iota
	PortDialect
	BetaDialect // ClassicDialect as bots of the first rules know it: time_bank, and no skips
)

// A Codec is Block Battle's dialogue, both ends (rules §8, §13.2), an agents/contest.Codec.
// The bot's end finds out which dialect is spoken. It belongs to one game.
type Codec struct {
	// Dialect is what the referee's end speaks, and the bot's end has recognised.
	Dialect Dialect
	// Notes gets a line about everything the bot's end did not understand; nil for none.
	Notes io.Writer

	received received
	opened   bool // the referee's end has sent the settings
}

// received is what the bot's end has read so far.
type received struct {
	names   [2]string // by seat
	me      string
	perMove int32 // milliseconds

	round       int32
	piece, next int // -1 before they were received
	sides       [2]blockbattle.Side
	fields      [2]bool // whether the board came in this round
	odd         string  // the first thing in this round that made no sense
}

// NewCodec returns a codec whose referee's end speaks d.
func NewCodec(d Dialect, notes io.Writer) *Codec {
	return &Codec{Dialect: d, Notes: notes, received: received{piece: -1, next: -1}}
}

// Answer implements contest.Codec: the shortest tokens that play a, "no_moves" for None.
func (c *Codec) Answer(s env.State, seat int, a env.Action) string {
	return s.(*blockbattle.State).Answer(seat, a)
}

// An answer is where a bot's line, split into tokens that are executed, puts the piece (rules §4.3, §4.4).
type answer struct {
	land    blockbattle.Landing
	remarks []string
}

// Judge reads seat's answer line in position s, which stays as it is: the action it comes
// to, and what is odd about it.
func Judge(d Dialect, s *blockbattle.State, seat int, line string) (a env.Action, remarks []string) {
	got := readAnswer(d, s, seat, line)
	return blockbattle.ActionOf(got.land), got.remarks
}

// readAnswer plays a line on seat's board, which stays as it is.
func readAnswer(d Dialect, s *blockbattle.State, seat int, line string) answer {
	var a answer
	var buf [blockbattle.MaxTokens]blockbattle.Token
	tokens := buf[:0]
	var odd []string
	if d == PortDialect {
		tokens, odd = blockbattle.ParsePortAnswer(line, tokens)
	} else {
		tokens, odd = blockbattle.ParseAnswer(line, tokens)
	}
	blank := false
	for _, part := range odd {
		if blank = part == ""; blank {
			a.remark("an empty part ends the answer")
		} else {
			a.remark("unknown token %.40q", part)
		}
	}
	if d == PortDialect && len(odd) > 0 {
		a.remark("the whole answer is void")
	}
	if d != PortDialect && len(odd) < blockbattle.MaxTokens && parts(line) > blockbattle.MaxTokens && !blank {
		a.remark("more than %d tokens: the rest is not read", blockbattle.MaxTokens)
	}
	side := &s.Sides[seat]
	a.land, _ = blockbattle.Execute(side, int(s.Piece), tokens, s.Rules)
	used := a.land.Played
	switch {
	case used > 0 && tokens[used-1] == blockbattle.Skip && !a.land.Skipped:
		a.remark("skip, with none in stock")
	case used < len(tokens) && !a.land.Skipped:
		a.remark("the piece has come to rest: the rest of the tokens is not played")
	case a.land.Loose:
		a.remark("the piece was left in the air: it falls")
	}
	return a
}

func (a *answer) remark(format string, args ...interface{}) {
	a.remarks = append(a.remarks, fmt.Sprintf(format, args...))
}

// parts counts the parts of an answer line, empty ones at its end left out.
func parts(line string) int { return strings.Count(strings.TrimRight(line, ","), ",") + 1 }

// Cells of a field string (rules §2).
const (
	cellEmpty   = '0'
	cellFalling = '1'
	cellBlock   = '2'
	cellSolid   = '3'
)

const fieldLen = 2*blockbattle.Width*blockbattle.Height - 1

// readField makes side's board the one a field string tells (rules §8.3), without the
// falling piece. On an error the board stays as it was.
func readField(side *blockbattle.Side, text string) error {
	if len(text) != fieldLen {
		return fmt.Errorf("%d characters, want %d", len(text), fieldLen)
	}
	next := blockbattle.Side{}
	for i := 0; i < fieldLen; i++ {
		x, y := i/2%blockbattle.Width, i/2/blockbattle.Width
		switch c := text[i]; {
		case i%2 == 1:
			if end := x == blockbattle.Width-1; end && c != ';' || !end && c != ',' {
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
	_, cells := blockbattle.Box(piece, 0)
	for _, c := range cells {
		if c.Y == 1 { // in the row below the top edge of the box, which is above the board (rules §3)
			dst[at+2*(blockbattle.SpawnX(piece)+int(c.X))] = cellFalling
		}
	}
	return dst[:len(dst)-1]
}

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

// Judge implements contest.Codec. An answer is never refused: the rules make a move of every line.
func (c *Codec) Judge(s env.State, seat int, answer string) env.Action {
	a, _ := Judge(c.Dialect, s.(*blockbattle.State), seat, answer)
	return a
}
