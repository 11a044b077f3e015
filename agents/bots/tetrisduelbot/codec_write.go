package tetrisduelbot

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

// Greeting returns the lines for a seat at the start of a game. The bot answers "ready".
func Greeting(s *tetrisduel.State, seat int, budget time.Duration) []string {
	digits := make([]byte, tetrisduel.HalfTurns)
	for t := range digits {
		digits[t] = byte('1' + s.Block(t+1))
	}
	return []string{
		wordHello,
		wordSeat + " " + strconv.Itoa(seat+1),
		wordTime + " " + strconv.FormatInt(budget.Milliseconds(), 10),
		wordBlocks + " " + string(digits),
	}
}

const ReadyTime = 10 * time.Second // the time that a bot has to answer "ready" (rules §8.1)

// Ready reports whether a bot's line is the word that it is ready (rules §8.1).
func Ready(line string) bool { return line == wordReady }

// Request returns the lines for the seat to move, with its legal placements if list is set. left is its budget.
func Request(s *tetrisduel.State, left time.Duration, list bool) []string {
	seat := s.Mover()
	flag := 0
	if s.Flag && seat == 1 {
		flag = 1
	}
	line := wordTurn
	for _, n := range []int{
		int(s.Turn), int(s.Turn+1) / 2, s.Block(int(s.Turn)) + 1, s.Score(seat), s.Score(1 - seat),
		int(s.Combo), flag, int(left.Milliseconds()),
	} {
		line += " " + strconv.Itoa(n)
	}
	last := noPlacement
	if a := s.Last[1-seat]; a != env.None {
		last = tetrisduel.Text(a)
	}
	lines := []string{line, wordLast + " " + last}
	board := s.Board(seat)
	lines = append(lines, boardLines(&board)...)
	if !list {
		return append(lines, wordMoves+" 0")
	}
	legal := tetrisduel.Ordered(s.Legal(seat, nil))
	lines = append(lines, wordMoves+" "+strconv.Itoa(len(legal)))
	for _, p := range legal {
		lines = append(lines, tetrisduel.Text(p.Action()))
	}
	return lines
}

func boardLines(f *falling.Field) []string {
	var lines []string
	row := make([]byte, tetrisduel.Width)
	for y := 0; y < tetrisduel.Height; y++ {
		for x := range row {
			row[x] = '.'
			if f.At(x, y) {
				row[x] = '#'
			}
		}
		lines = append(lines, string(row))
	}
	return lines
}

// End returns the line for both bots at the end of the game. winner is a seat, or -1.
func End(s *tetrisduel.State, winner int, reason string) string {
	return strings.Join([]string{
		wordEnd, strconv.Itoa(winner + 1), reason, strconv.Itoa(s.Score(0)), strconv.Itoa(s.Score(1)),
	}, " ")
}

// Judge returns the legal placement that an answer of the seat to move names: three numbers with blanks between them.
func Judge(s *tetrisduel.State, line string) (a env.Action, ok bool) {
	words := strings.Fields(line)
	var p tetrisduel.Placement
	v := [...]*int{&p.Y, &p.X, &p.D}
	if len(words) != len(v) {
		return env.None, false
	}
	for i, w := range words {
		n, err := strconv.Atoi(w)
		if *v[i] = n; err != nil {
			return env.None, false
		}
	}
	for _, l := range s.Legal(s.Mover(), nil) {
		if tetrisduel.At(l) == p {
			return l, true
		}
	}
	return env.None, false
}

// Greet implements contest.Greeter with the lines of the start, and ReadyTime for the answer.
func (c *Codec) Greet(s env.State, seat int) (lines []string, limit time.Duration) {
	return Greeting(s.(*tetrisduel.State), seat, DefaultTime), ReadyTime
}

// Greeted implements contest.Greeter: it returns an error unless the line says that the bot is ready.
func (c *Codec) Greeted(line string) error {
	if !Ready(line) {
		return fmt.Errorf("said %.40q instead of %s", line, wordReady)
	}
	return nil
}

// Request implements contest.Codec: a request without a greeting.
func (c *Codec) Request(s env.State, t contest.Turn) []string {
	return Request(s.(*tetrisduel.State), t.Budget, true)
}

// Judge implements contest.Codec. It returns env.None for an illegal answer.
func (c *Codec) Judge(s env.State, _ int, answer string) env.Action {
	a, _ := Judge(s.(*tetrisduel.State), answer)
	return a
}
