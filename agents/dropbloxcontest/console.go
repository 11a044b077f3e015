package dropbloxcontest

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/dropbloxcontest/programs"
)

// A Console writes what the original client shows (rules §9). A nil one writes nothing.
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

// foreign shows a line of output that is no command.
func (c *Console) foreign(line string) { c.line("", "INVALID COMMAND: "+line) }

// received shows what a program said in its turn.
func (c *Console) received(t programs.Turn) {
	if c == nil {
		return
	}
	c.line(red, "Terminating process")
	var b strings.Builder
	for i, command := range t.Commands {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("'" + command.String() + "'")
	}
	c.line(cyan, "commands received: ["+b.String()+"]")
}

// made shows where the game stands after a turn.
func (c *Console) made(t Table) {
	if c != nil {
		left := strconv.FormatFloat(t.Left().Round(time.Microsecond).Seconds(), 'f', -1, 64)
		c.line("", fmt.Sprintf("moves_made: %d score: %d seconds_remaining: %s", t.Turns(), t.Score(), left))
	}
}

// Results shows the end of a game. The number of turns is told without the last one, as
// the original does.
func (c *Console) Results(r Result) {
	c.line("", fmt.Sprintf("Game over! Your score was: %d", r.Score))
	c.line("", fmt.Sprintf("RESULTS: %d", r.Score))
	c.line("", fmt.Sprintf("RESULTS_TIME: %d", max(0, r.Turns-1)))
}
