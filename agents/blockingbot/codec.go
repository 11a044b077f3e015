package blockingbot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blocking"
)

// The contest's time for an answer (rules §6.4).
const (
	FirstTime = time.Second
	LaterTime = 200 * time.Millisecond
)

// A Codec is Blocking's dialogue, both ends (rules §6), an agents/contest.Codec. It belongs
// to one game. The bot's end takes the shapes from what it is told, and its answers from
// the list it is sent: whatever it did not understand of the rest, it answers with the
// first of these.
type Codec struct {
	told   told
	opened bool // the start has been read, or written
	asked  int  // requests read
	listed []string
	table  *blocking.Table
	board  [env.MaxSeats]blocking.Board // as the host's end has shown them
}

// told is what the start of a game says.
type told struct {
	seats, seat, size int
	letters           uint32
	table             uint8
	odd               error // what is wrong with it: no position can be made
	used              [env.MaxSeats]uint32
}

var _ contest.Codec = (*Codec)(nil)

// NewCodec returns a codec that has seen nothing.
func NewCodec() *Codec { return &Codec{} }

// most is how many lines a list may have.
const most = 4096

// ReadTurn implements contest.Codec. Its error ends the match where it is not known any
// more what a line stands for.
func (c *Codec) ReadTurn(r *bufio.Reader, state env.State) (contest.Turn, error) {
	if !c.opened {
		if err := c.readStart(r); err != nil {
			return contest.Turn{}, err
		}
		c.opened = true
	}
	rows, err := readLines(r, c.told.size)
	if err != nil {
		return contest.Turn{}, err
	}
	others, err := readList(r)
	if err != nil {
		return contest.Turn{}, err
	}
	if c.listed, err = readList(r); err != nil {
		return contest.Turn{}, err
	}
	t := contest.Turn{Seat: c.told.seat, Budget: LaterTime, Turns: 1}
	if c.asked == 0 {
		t.Budget = FirstTime
	}
	c.asked++
	s := state.(*blocking.State)
	next := *s
	if err := c.position(&next, rows, others); err != nil {
		return t, fmt.Errorf("%w: %v", contest.ErrOutOfSync, err)
	}
	*s = next
	return t, nil
}

// readCount reads a line with a number from 0 to top.
func readCount(r *bufio.Reader, what string, top int) (int, error) {
	line, _, err := contest.ReadLine(r)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || n < 0 || n > top {
		return 0, fmt.Errorf("%.40q, want %s, a number from 0 to %d", line, what, top)
	}
	return n, nil
}

func readLines(r *bufio.Reader, n int) ([]string, error) {
	lines := make([]string, 0, n)
	for ; n > 0; n-- {
		line, _, err := contest.ReadLine(r)
		if errors.Is(err, io.EOF) && len(lines) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// readList reads a count and as many lines.
func readList(r *bufio.Reader) ([]string, error) {
	n, err := readCount(r, "the length of a list", most)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	return readLines(r, n)
}

// readStart reads what comes once (rules §6.1). What it says may be odd, as long as it is
// clear where it ends.
func (c *Codec) readStart(r *bufio.Reader) error {
	k, err := readCount(r, "the number of shapes", 1000)
	if err != nil {
		return err
	}
	shapes, err := readLines(r, k)
	if err != nil {
		return err
	}
	t := &c.told
	for _, p := range []struct {
		to   *int
		what string
		top  int
	}{{&t.seats, "the number of players", 1000}, {&t.seat, "the player's id", 1000}, {&t.size, "the board's size", 1000}} {
		if *p.to, err = readCount(r, p.what, p.top); err != nil {
			return err
		}
	}
	letters, _, err := contest.ReadLine(r)
	if err != nil {
		return err
	}
	t.odd = t.understand(shapes, strings.TrimSpace(letters))
	if t.odd != nil { // the seat is a guess, too, and no index must be out of range
		t.seat &= env.MaxSeats - 1
	}
	return nil
}

// understand puts the shapes of the game in use.
func (t *told) understand(shapes []string, letters string) error {
	if t.size != blocking.Size || t.seat >= t.seats {
		return fmt.Errorf("player %d of %d on a board of size %d", t.seat, t.seats, t.size)
	}
	var err error
	if t.letters, err = blocking.ParseLetters(letters, t.seats); err != nil {
		return err
	}
	var defined [blocking.Letters]blocking.Shape
	seen := uint32(0)
	for _, line := range shapes {
		l, s, err := blocking.ParseShape(line)
		if err != nil {
			return err
		}
		if seen>>uint(l)&1 != 0 {
			return fmt.Errorf("shape %c is defined twice", 'A'+l)
		}
		defined[l] = s
		seen |= 1 << uint(l)
	}
	if t.letters&^seen != 0 {
		return fmt.Errorf("letters %s have no shape", blocking.LetterText(t.letters&^seen))
	}
	for l := range defined { // the others are in nobody's hands; any shape will do
		if seen>>uint(l)&1 == 0 {
			defined[l] = defined[0]
		}
	}
	t.table, err = blocking.Use(blocking.NewTable(defined))
	return err
}

// position makes s the position that a request shows.
func (c *Codec) position(s *blocking.State, rows, others []string) error {
	t := &c.told
	if t.odd != nil {
		return t.odd
	}
	*s = blocking.State{
		Seats: uint8(t.seats), Turn: uint8(t.seat), Letters: t.letters, TableID: t.table,
		PlayOut: true, // the host says when it is over
	}
	c.table = s.Table()
	moved := uint(1) << uint(t.seat)
	for _, line := range others {
		who, rest := cut(line)
		code, err := c.table.ParseCode(rest)
		p, e := strconv.Atoi(who)
		if err != nil || e != nil || p < 0 || p >= t.seats {
			return fmt.Errorf("%.40q is no move of another player", line)
		}
		t.used[p] |= 1 << uint(code.L)
		moved |= 1 << uint(p)
	}
	if err := paint(s, rows); err != nil {
		return err
	}
	for i := 0; i < t.seats; i++ {
		s.Left[i] = t.letters &^ t.used[i]
		s.Points[i] = int16(s.Cells[i].Count())
	}
	// Whoever was not heard of though it was its turn is out of the game, or is stuck. If it
	// could place now, it could then.
	for i := 0; i < t.seats; i++ {
		if moved>>uint(i)&1 != 0 || c.asked == 1 && i > t.seat {
			continue
		}
		if s.CanPlace(i) {
			s.Out |= 1 << uint(i)
		} else {
			s.Stuck |= 1 << uint(i)
		}
	}
	return s.Check()
}

// cut splits a line at its first blank.
func cut(line string) (word, rest string) {
	line = strings.TrimSpace(line)
	if i := strings.IndexByte(line, ' '); i >= 0 {
		return line[:i], line[i+1:]
	}
	return line, ""
}

// paint reads the rows of a board.
func paint(s *blocking.State, rows []string) error {
	for y, row := range rows {
		if row = strings.TrimSpace(row); len(row) != blocking.Size {
			return fmt.Errorf("row %d has %d cells, want %d", y, len(row), blocking.Size)
		}
		for x := 0; x < blocking.Size; x++ {
			switch who := int(row[x]) - '0'; {
			case who >= 0 && who < int(s.Seats):
				s.Cells[who].Set(x, y)
			case row[x] != '.' && row[x] != 'x':
				return fmt.Errorf("row %d, column %d: %q", y, x, row[x])
			}
		}
	}
	return nil
}

// WriteMove implements contest.Codec: the listed code of a, or the first of the list if a
// is None or not in it.
func (c *Codec) WriteMove(w io.Writer, _ env.State, seat int, a env.Action) error {
	answer := "-" // no list was sent
	for i := len(c.listed) - 1; i >= 0; i-- {
		if i == 0 {
			answer = c.listed[0]
		}
		if c.table == nil || a == env.None {
			continue
		}
		if code, err := c.table.ParseCode(c.listed[i]); err == nil && c.table.Action(code) == a {
			answer = c.listed[i]
			break
		}
	}
	if c.table != nil {
		if code, err := c.table.ParseCode(answer); err == nil {
			c.told.used[seat&(env.MaxSeats-1)] |= 1 << uint(code.L)
		}
	}
	_, err := io.WriteString(w, answer+"\n")
	return err
}
