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

// The contest's time for an answer (rules §9).
const (
	FirstTime = time.Second
	LaterTime = 200 * time.Millisecond
)

// A Codec is Blocking's dialogue, both ends (rules §8), an agents/contest.Codec. It belongs to one game. The bot's
// end takes the shapes from the start of the game, and its answers from the list in each request. If it cannot
// understand the rest of a request, it answers with the first placement of the list.
type Codec struct {
	Notes io.Writer // gets remarks of the bot's end; may be nil

	received received
	opened   bool // the start has been read, or written
	asked    int  // requests read
	listed   []string
	table    *blocking.Table
	board    [env.MaxSeats]blocking.Board // as the host's end has shown them
}

// A received is what the lines before the first turn say about the game (rules §8.1).
type received struct {
	seats, seat, size int
	letters           uint32
	table             uint8
	odd               error // what is wrong with it: no position can be made
	used              [env.MaxSeats]uint32
}

// NewCodec returns a Codec for one game, before its first line, that notes nothing.
func NewCodec() *Codec { return &Codec{} }

const most = 4096 // how many lines a list may have

// ReadTurn implements contest.Codec. Its error ends the match where it is not known any more what a line stands for.
func (c *Codec) ReadTurn(r *bufio.Reader, state env.State) (contest.Turn, error) {
	if !c.opened {
		start := reader{in: r}
		if c.readStart(&start); start.err != nil {
			return contest.Turn{}, start.err
		}
		c.opened = true
	}
	request := reader{in: r}
	rows, others := request.lines(c.received.size), request.list()
	c.listed = request.list()
	if request.err != nil {
		return contest.Turn{}, request.err
	}
	t := contest.Turn{Seat: c.received.seat, Budget: LaterTime, Turns: 1}
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

// A reader reads lines that belong together, up to its first error, which is io.EOF only where
// the first of them is missing. After an error everything it reads is empty.
type reader struct {
	in   *bufio.Reader
	some bool // at least one line was read
	err  error
}

func (r *reader) line() (line string) {
	if r.err != nil {
		return ""
	}
	line, _, r.err = contest.ReadLine(r.in)
	if errors.Is(r.err, io.EOF) && r.some {
		r.err = io.ErrUnexpectedEOF
	}
	r.some = true
	return line
}

// count reads a line with a number from 0 to top.
func (r *reader) count(what string, top int) int {
	line := r.line()
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if r.err == nil && (err != nil || n < 0 || n > top) {
		r.err = fmt.Errorf("%.40q, want %s, a number from 0 to %d", line, what, top)
	}
	if r.err != nil {
		return 0
	}
	return n
}

func (r *reader) lines(n int) (lines []string) {
	for ; n > 0 && r.err == nil; n-- {
		lines = append(lines, r.line())
	}
	return lines
}

func (r *reader) list() []string { return r.lines(r.count("the length of a list", most)) }

// readStart reads what comes once (rules §8.1). What it says may be odd, as long as it is clear where it ends.
func (c *Codec) readStart(r *reader) {
	const top = 1000 // of every number
	shapes := r.lines(r.count("the number of shapes", top))
	t := &c.received
	t.seats, t.seat = r.count("the number of players", top), r.count("the player's id", top)
	t.size = r.count("the board's size", top)
	t.odd = t.understand(shapes, strings.TrimSpace(r.line()))
	if t.odd != nil { // the seat is a guess, too, and no index must be out of range
		t.seat &= env.MaxSeats - 1
	}
}

func (t *received) understand(shapes []string, letters string) error {
	if t.size != blocking.Size || t.seat >= t.seats {
		return fmt.Errorf("player %d of %d on a board of size %d", t.seat, t.seats, t.size)
	}
	var err error
	if t.letters, err = blocking.ParseLetters(letters, t.seats); err != nil {
		return err
	}
	defined, seen, err := blocking.ParseShapes(shapes)
	if err != nil {
		return err
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

func (c *Codec) position(s *blocking.State, rows, others []string) error {
	t := &c.received
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
		who, rest := contest.Word(strings.TrimSpace(line))
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

// Answer implements contest.Codec: the listed code of a, or the first of the list if a is None or not in it.
func (c *Codec) Answer(_ env.State, seat int, a env.Action) string {
	table := c.table
	if table == nil { // nothing is known of the game
		table = blocking.DefaultTable
	}
	answer, found := "-", false // no list was sent
	for i, listed := range c.listed {
		code, err := table.ParseCode(listed)
		if found = err == nil && a != env.None && table.Action(code) == a; found || i == 0 {
			answer = listed
		}
		if found {
			break
		}
	}
	if c.Notes != nil && a != env.None && !found {
		fmt.Fprintf(c.Notes, "action %d is not in the list of this request: the answer is its first placement, %s\n",
			a, answer)
	}
	if code, err := table.ParseCode(answer); err == nil {
		c.received.used[seat&(env.MaxSeats-1)] |= 1 << uint(code.L)
	}
	return answer
}
