package tetrisduelbot

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

// Words of the dialogue (rules §8).
const (
	wordHello   = "tetrisduel 1"
	wordSeat    = "seat"
	wordTime    = "time"
	wordBlocks  = "blocks"
	wordReady   = "ready"
	wordTurn    = "turn"
	wordLast    = "last"
	wordMoves   = "moves"
	wordEnd     = "end"
	noPlacement = "-"
)

const DefaultTime = 20 * time.Second // a bot's budget for a game (rules §9)

// A Codec is the bot's end of the dialogue of rules §8. It belongs to one game.
type Codec struct {
	ready io.Writer // gets the line "ready"
	seat  int
	time  time.Duration
	deal  []uint16 // draws that deal the announced blocks
	own   env.Action
}

// NewCodec returns a Codec that writes the line "ready" to ready, when the bot can begin.
func NewCodec(ready io.Writer) *Codec {
	return &Codec{ready: ready, time: DefaultTime, own: env.None}
}

// ReadTurn implements contest.Codec. It answers the start of the game with "ready" by itself (rules §8.1).
func (c *Codec) ReadTurn(r *bufio.Reader, state env.State) (contest.Turn, error) {
	for {
		line, _, err := contest.ReadLine(r)
		if err != nil {
			return contest.Turn{}, err
		}
		word, rest := contest.Word(line)
		switch word {
		case wordEnd:
			return contest.Turn{}, io.EOF
		case wordTurn:
			return c.turn(r, rest, state.(*tetrisduel.State))
		case wordBlocks:
			c.blocks(rest)
			if _, err := io.WriteString(c.ready, wordReady+"\n"); err != nil {
				return contest.Turn{}, err
			}
		default:
			c.setting(word, rest)
		}
	}
}

// setting takes a line of the start. What makes no sense is passed over, and shows at the first request at the latest.
func (c *Codec) setting(word, rest string) {
	n, err := strconv.Atoi(rest)
	switch {
	case err != nil:
	case word == wordSeat && (n == 1 || n == 2):
		c.seat = n - 1
	case word == wordTime && n >= 0 && n <= maxTime:
		c.time = time.Duration(n) * time.Millisecond
	}
}

const maxTime = 1 << 31 // the greatest budget that is believed, in milliseconds

// blocks takes the sequence; there is none after one that is not made of packages.
func (c *Codec) blocks(digits string) {
	c.deal = nil
	if len(digits) != tetrisduel.HalfTurns {
		return
	}
	kinds := make([]uint8, len(digits))
	for i := range kinds {
		kinds[i] = digits[i] - '1'
	}
	if deal, ok := tetrisduel.Draws(kinds); ok {
		c.deal = deal
	}
}

// turn reads a request, of which rest is the end of the first line, and makes s its position.
func (c *Codec) turn(r *bufio.Reader, rest string, s *tetrisduel.State) (contest.Turn, error) {
	t := contest.Turn{Seat: c.seat, Budget: c.time}
	var lines []string
	for listed := -1; listed != 0; { // lines left of the list of placements, which is not needed
		line, _, err := contest.ReadLine(r)
		if err != nil {
			return t, err
		}
		word, count := contest.Word(line)
		switch {
		case listed > 0:
			listed--
		case word == wordMoves:
			if listed, err = strconv.Atoi(count); err != nil || listed < 0 || listed > tetrisduel.Actions {
				listed = 0
			}
		case len(lines) <= tetrisduel.Height+1:
			lines = append(lines, line)
		}
	}
	next := *s
	left, err := c.position(&next, rest, lines)
	if err != nil {
		return t, fmt.Errorf("%w: %v", contest.ErrOutOfSync, err)
	}
	*s = next
	t.Budget, t.Turns = left, (tetrisduel.HalfTurns-int(next.Turn))/2+1
	return t, nil
}

func (c *Codec) position(s *tetrisduel.State, rest string, lines []string) (left time.Duration, err error) {
	if len(c.deal) != tetrisduel.Packages {
		return 0, fmt.Errorf("no sequence of %d blocks in packages was announced", tetrisduel.HalfTurns)
	}
	v, err := numbers(rest, 8)
	if err != nil {
		return 0, fmt.Errorf("turn %q: %w", rest, err)
	}
	if len(lines) != tetrisduel.Height+1 {
		return 0, fmt.Errorf("%d lines between turn and moves, want %d", len(lines), tetrisduel.Height+1)
	}
	s.Force(c.deal)
	s.Reset(0)
	seat := (v[0] + 1) & 1
	if v[0] < 1 || v[0] > tetrisduel.HalfTurns || seat != c.seat || v[1] != (v[0]+1)/2 {
		return 0, fmt.Errorf("half-turn %d, round %d of seat %d", v[0], v[1], c.seat+1)
	}
	if v[2] != s.Block(v[0])+1 {
		return 0, fmt.Errorf("half-turn %d: block %d, announced was %d", v[0], v[2], s.Block(v[0])+1)
	}
	if v[3] > 1<<20 || v[4] > 1<<20 || v[5] > tetrisduel.HalfTurns || v[6] > 1 || v[7] > maxTime {
		return 0, fmt.Errorf("turn %q: a number is too great", rest)
	}
	board, err := parseBoard(lines[1:])
	if err != nil {
		return 0, err
	}
	s.Last[1-seat], err = parseLast(lines[0])
	if err != nil {
		return 0, err
	}
	s.Last[seat] = c.own
	s.Turn, s.Combo, s.Flag = int16(v[0]), int16(v[5]), v[6] == 1
	s.Points[seat], s.Points[1-seat] = int32(v[3]), int32(v[4])
	if s.Cells = board; seat == 1 {
		s.Cells = tetrisduel.Turned(&board)
	}
	return time.Duration(v[7]) * time.Millisecond, s.Check()
}

// numbers reads n decimal numbers from 0, a blank between them.
func numbers(text string, n int) ([]int, error) {
	parts := strings.Split(text, " ")
	if len(parts) != n {
		return nil, fmt.Errorf("%d words, want %d", len(parts), n)
	}
	out := make([]int, n)
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 {
			return nil, fmt.Errorf("%q is no number", p)
		}
		out[i] = v
	}
	return out, nil
}

func parseBoard(lines []string) (f falling.Field, err error) {
	for y, line := range lines {
		if len(line) != tetrisduel.Width {
			return f, fmt.Errorf("board row %d: %d cells, want %d", y, len(line), tetrisduel.Width)
		}
		if strings.Trim(line, "#.") != "" {
			return f, fmt.Errorf("board row %d: %q", y, line)
		}
		for x, c := range line {
			if c == '#' {
				f.Set(x, y)
			}
		}
	}
	return f, nil
}

func parseLast(line string) (env.Action, error) {
	word, rest := contest.Word(line)
	if word != wordLast {
		return env.None, fmt.Errorf("%q, want the last placement", line)
	}
	if rest == noPlacement {
		return env.None, nil
	}
	return tetrisduel.Parse(rest)
}

// Answer implements contest.Codec: "y x d", or "none", which loses the game.
func (c *Codec) Answer(_ env.State, _ int, a env.Action) string {
	if a == env.None {
		return "none"
	}
	c.own = a
	return tetrisduel.Text(a)
}
