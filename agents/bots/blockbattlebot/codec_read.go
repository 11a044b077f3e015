package blockbattlebot

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A number in the dialogue is never greater than this.
const greatest = 1 << 24

// ReadTurn takes lines in any order, notes unknown ones, and leaves alone what a line does not mention.
func (c *Codec) ReadTurn(r *bufio.Reader, s env.State) (contest.Turn, error) {
	for {
		line, cut, err := contest.ReadLine(r)
		if err != nil {
			return contest.Turn{}, err
		}
		if cut {
			c.amiss("a line of more than %d bytes", contest.MaxLine)
			continue
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] != "action" {
			c.told(words)
		} else if t, asked := c.action(words[1:]); asked {
			return t, c.settle(s.(*blockbattle.State), t.Seat)
		}
	}
}

func (c *Codec) note(format string, args ...interface{}) {
	if c.Notes != nil {
		_, _ = io.WriteString(c.Notes, fmt.Sprintf(format, args...)+"\n")
	}
}

// amiss notes what makes this round's position doubtful.
func (c *Codec) amiss(format string, args ...interface{}) {
	text := fmt.Sprintf(format, args...)
	c.note("%s", text)
	if c.received.odd == "" {
		c.received.odd = text
	}
}

// told takes a line that is no request: a key of one to three words, and a value.
func (c *Codec) told(words []string) {
	t := &c.received
	last := len(words) - 1
	value := words[last]
	switch key := strings.Join(words[:last], " "); key {
	case "settings player_names":
		names := strings.Split(value, ",")
		if len(names) != 2 || names[0] == names[1] || names[0] == "" || names[1] == "" {
			c.note("player_names %.60q are not two", value)
			return
		}
		copy(t.names[:], names)
	case "settings your_bot":
		t.me = value
	case "settings time_per_move":
		c.count(&t.perMove, key, value)
	case "settings field_width":
		c.mustBe(key, value, blockbattle.Width)
	case "settings field_height":
		c.mustBe(key, value, blockbattle.Height)
	case "update game round":
		c.count(&t.round, key, value)
	case "update game this_piece_type":
		t.piece = c.piece(key, value)
	case "update game next_piece_type":
		t.next = c.piece(key, value)
	case "settings timebank", "settings time_bank", "settings max_rounds", "update game this_piece_position":
	default:
		if len(words) != 4 || words[0] != "update" || words[1] == "game" || !c.side(words[1], words[2], value) {
			c.note("unknown line %.60q", words)
		}
	}
}

func (c *Codec) mustBe(key, value string, want int) {
	n := int32(want)
	if c.count(&n, key, value); n != int32(want) {
		c.amiss("%s is %d, this bot knows only %d", key, n, want)
	}
}

// count reads a number into n, which keeps its value if there is none.
func (c *Codec) count(n *int32, key, value string) {
	v, err := strconv.Atoi(value)
	if err != nil || v < 0 || v > greatest {
		c.amiss("%s %.40q is not a count", key, value)
		return
	}
	*n = int32(v)
}

// seat finds whose name it is. A bot that was not given the names takes the first it reads for its own.
func (c *Codec) seat(name string) (int, bool) {
	t := &c.received
	if t.names[0] == "" && t.names[1] == "" {
		switch name {
		case "player0", "player1", "player2":
			t.names = [2]string{"player1", "player2"}
			if name == "player0" || t.me == "player0" {
				t.names = [2]string{"player0", "player1"}
			}
		default:
			t.names[0] = name
		}
	}
	if t.me == "" {
		t.me = name
	}
	for i, n := range t.names {
		if n == name {
			return i, true
		}
	}
	if t.names[1] == "" {
		t.names[1] = name
		return 1, true
	}
	return 0, false
}

// side takes what a line tells about a player's side; known is false for a key that it does not know.
func (c *Codec) side(who, key, value string) (known bool) {
	seat, ok := c.seat(who)
	if !ok {
		c.note("an update of %.40q, who does not play", who)
		return true
	}
	side := &c.received.sides[seat]
	switch key {
	case "field":
		if err := side.ReadField(value); err != nil {
			c.amiss("field of %.40s: %v", who, err)
			return true
		}
		c.received.fields[seat] = true
	case "row_points":
		c.count(&side.Points, key, value)
	case "combo":
		c.count(&side.Combo, key, value)
	case "skips":
		c.count(&side.Skips, key, value)
	default:
		return false
	}
	return true
}

func (c *Codec) piece(key, value string) int {
	i := strings.Index(blockbattle.Letters, value)
	if len(value) != 1 || i < 0 {
		c.amiss("%s %.40q is no piece", key, value)
		return -1
	}
	return i
}

func (c *Codec) action(words []string) (contest.Turn, bool) {
	if len(words) == 0 || words[0] != "move" && words[0] != "moves" {
		c.note("unknown request %.60q", words)
		return contest.Turn{}, false
	}
	c.Dialect = blockbattle.ClassicDialect
	if words[0] == "move" {
		c.Dialect = blockbattle.PortDialect
	}
	t := contest.Turn{PerMove: time.Duration(c.received.perMove) * time.Millisecond}
	if len(words) > 1 {
		if n, err := strconv.Atoi(words[1]); err == nil && n > 0 && n <= greatest {
			t.Budget = time.Duration(n) * time.Millisecond
		} else {
			c.note("a time bank of %.40q", words[1])
		}
	}
	if c.received.me != "" {
		if seat, ok := c.seat(c.received.me); ok {
			t.Seat = seat
		} else {
			c.amiss("your_bot %.40q does not play", c.received.me)
		}
	}
	return t, true
}

func (c *Codec) settle(s *blockbattle.State, seat int) error {
	t := &c.received
	odd := t.odd
	if odd == "" && !t.fields[seat] {
		odd = "a request without a board"
	}
	if odd == "" && (t.piece < 0 || t.next < 0 || t.round < 1) {
		odd = "a request without piece, next piece and round"
	}
	t.odd, t.fields = "", [2]bool{}
	next := blockbattle.State{Rand: s.Rand, Sides: t.sides, Round: t.round, Rules: s.Rules, Winner: blockbattle.Nobody}
	if t.piece >= 0 && t.next >= 0 {
		next.Piece, next.Next = uint8(t.piece), uint8(t.next)
		if err := next.Check(); err == nil {
			*s = next
		} else if odd == "" {
			odd = err.Error()
		}
	}
	if odd != "" {
		return fmt.Errorf("%w: the position is in doubt: %s", contest.ErrOutOfSync, odd)
	}
	return nil
}
