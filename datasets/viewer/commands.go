package viewer

import (
	"fmt"
	"sort"
	"time"

	"blockyard/datasets/record/playback"
	"blockyard/env"
	"blockyard/env/dropblox"
)

const commandPace = 40 // the duration of a command's frame in milliseconds

const window = 24 // how many commands of a turn a frame lists before and after the current one

// commands is a record of Dropblox as a replay: a frame before each command of a turn and one after the last (rules
// §14), not for the drop. For actions without commands, which only a history folder has, the shortest ones stand.
type commands struct {
	*recordReplay
	starts []int // first frame of each turn, the one before its first command; each command has another one
	frames int
	scores playback.Scores
	given  bool // frames has those of the last turn's commands
	live   bool // the game was being written when its frames were last counted to the end
	path   []dropblox.Command

	at    int // the turn painted last, -1 if none
	made  int // commands executed in it
	words []string
	block dropblox.Block
}

func (c *commands) advance(deadline time.Time) {
	c.recordReplay.advance(deadline)
	for n := 0; n < 8 || time.Now().Before(deadline); n++ {
		last, end := len(c.starts)-1, c.timeline.Len()-1
		if last >= 0 && last < end && !c.given {
			c.frames += len(c.commandsOf(last))
			c.given = true
		}
		if last == end {
			c.live = c.recordReplay.info().Live
			return
		}
		c.timeline.Seek(last + 1)
		c.starts = append(c.starts, c.frames)
		c.frames++
		c.scores.Note([]int{c.timeline.State().Score(0)})
		c.at, c.given = -1, false
	}
}

func (c *commands) info() info {
	out := c.recordReplay.info()
	if out.Reading = out.Reading || len(c.starts) < c.timeline.Len(); out.Reading {
		out.Live = c.live // who is at the end is to be led to the new one
	}
	out.Frames, out.Turns, out.Starts = c.frames, len(c.starts), c.starts
	out.Scores, out.Pace = c.scores.Seats, commandPace
	return out
}

// commandsOf goes to turn t and returns its commands.
func (c *commands) commandsOf(t int) (words []string) {
	c.timeline.Seek(t)
	if c.history != nil && t < len(c.history.words) {
		return c.history.words[t]
	}
	a := c.timeline.Moves()[0]
	if a == env.None {
		return nil
	}
	var err error
	if c.path, err = c.board().Path(a, c.path[:0]); err != nil {
		return nil
	}
	for _, command := range c.path {
		words = append(words, command.String())
	}
	return words
}

func (c *commands) frame(n int) Frame { return c.draw(n, env.None) }

// draw paints frame n, if mark is an action with its ghost instead of that of the block in play.
func (c *commands) draw(n int, mark env.Action) Frame {
	t := sort.Search(len(c.starts), func(k int) bool { return c.starts[k] > n }) - 1
	made := n - c.starts[t]
	if t != c.at || made < c.made {
		c.at, c.made, c.words = t, 0, c.commandsOf(t)
		c.block = c.board().Block(0)
	}
	c.timeline.Seek(t)
	s := c.board()
	for ; c.made < made && c.made < len(c.words); c.made++ {
		if word, ok := dropblox.ParseCommand(c.words[c.made]); ok && !s.Failed {
			word.Carry(&c.block, &s.Taken)
		}
	}
	out := Frame{Label: fmt.Sprintf("Turn %d", t), Turn: t, Of: len(c.words), Made: c.made}
	out.First = max(0, min(c.made-window, len(c.words)-2*window))
	out.Moves = c.words[out.First:min(len(c.words), out.First+2*window)]
	out.Seats = []Seat{{Score: s.Score(0), Turn: !s.Failed}}
	c.tell(&out)
	c.frm.Reset()
	s.ShowWith(&c.frm, c.block)
	if mark != env.None {
		c.frm.Boards[0].Unghost()
		s.Mark(&c.frm, 0, mark)
	}
	out.paint(&c.frm)
	out.Boards[0] = board(&c.frm.Boards[0], dropblox.Hidden)
	if s.Failed {
		out.Over = "The board is full"
	} else if t == c.timeline.Len()-1 {
		out.Over = c.ending()
	}
	if out.Over != "" {
		out.Over += " · " + points(s.Score(0))
		out.Red = true
	}
	return out
}

func (c *commands) board() *dropblox.State { return c.timeline.State().(*dropblox.State) }

func (c *commands) marked(n, _ int, a env.Action) (Frame, error) {
	if n >= len(c.starts) {
		return Frame{}, fmt.Errorf("turn %d is not read yet", n)
	}
	return c.draw(c.starts[n], a), nil
}
