package dropbloxcontest

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/dropbloxcontest/programs"
)

// A Console prints what the original client prints (rules §9). A nil Console prints nothing.
type Console struct {
	W      io.Writer
	Colour bool
}

func (c *Console) line(colour, text string) {
	if c == nil {
		return
	}
	if c.Colour && colour != "" {
		text = "\x1b[" + colour + "m" + text + "\x1b[0m"
	}
	fmt.Fprintln(c.W, text)
}

const red, cyan = "31", "36"

// foreign prints a line of output that is not a command.
func (c *Console) foreign(line string) { c.line("", "INVALID COMMAND: "+line) }

// received prints the commands of a turn.
func (c *Console) received(t programs.Turn) {
	c.line(red, "Terminating process")
	var commands []string
	for _, command := range t.Commands {
		commands = append(commands, "'"+command.String()+"'")
	}
	c.line(cyan, "commands received: ["+strings.Join(commands, ", ")+"]")
}

// made prints turns, score and time after a turn.
func (c *Console) made(s Status) {
	left := strconv.FormatFloat(s.Left.Round(time.Microsecond).Seconds(), 'f', -1, 64)
	c.line("", fmt.Sprintf("moves_made: %d score: %d seconds_remaining: %s", s.Turns, s.Score, left))
}

// Results prints the result of a game. As in the original, the number of turns leaves out the
// last one.
func (c *Console) Results(r Result) {
	c.line("", fmt.Sprintf("Game over! Your score was: %d", r.Score))
	c.line("", fmt.Sprintf("RESULTS: %d", r.Score))
	c.line("", fmt.Sprintf("RESULTS_TIME: %d", max(0, r.Turns-1)))
}
