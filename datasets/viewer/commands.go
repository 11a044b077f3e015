package viewer

import (
	"errors"
	"fmt"
	"sort"
	"time"

	"blockyard/datasets/record/playback"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// commandPace is the duration of a command's frame in milliseconds.
const commandPace = 40

// window is how many commands of a turn a frame lists before and after the current one.
const window = 24

// turns is a Dropblox game, turn by turn.
type turns interface {
	// grow reads until deadline and adds the turns it finds to the steps.
	grow(deadline time.Time, into *steps)
	// turn returns the position before turn t and the commands given in it.
	turn(t int) (*dropblox.Position, []string, error)
	// state returns whether there is more to read, whether the game is being written, and the error
	// that ends it.
	state() (reading, live bool, err error)
}

// steps counts the frames of a game's turns: one before the first command and one after each.
type steps struct {
	starts []int // first frame of each turn
	frames int
	scores playback.Scores
}

// add adds a turn without commands.
func (s *steps) add(score int) {
	s.starts = append(s.starts, s.frames)
	s.frames++
	s.scores.Note([]int{score})
}

// extend sets the number of commands of the last turn.
func (s *steps) extend(commands int) { s.frames = s.starts[len(s.starts)-1] + 1 + commands }

// turn returns the turn that frame n belongs to and how many commands precede it.
func (s *steps) turn(n int) (t, made int) {
	t = sort.Search(len(s.starts), func(k int) bool { return s.starts[k] > n }) - 1
	return t, n - s.starts[t]
}

// commands is a Dropblox game as a replay: a frame before each command of a turn and one after the last
// (rules §14). The drop has no frame of its own.
type commands struct {
	of    turns
	steps steps

	at    int // the turn painted last, -1 if none
	made  int // commands executed in it
	pos   *dropblox.Position
	words []string
	block dropblox.Block
	taken dropblox.Field
}

func newCommands(of turns) *commands { return &commands{of: of, at: -1} }

func (c *commands) advance(deadline time.Time) {
	before := c.steps.frames
	c.of.grow(deadline, &c.steps)
	if c.steps.frames != before {
		c.at = -1
	}
}

func (c *commands) info() info {
	out := info{Frames: c.steps.frames, Turns: len(c.steps.starts), Starts: c.steps.starts, Pace: commandPace}
	out.Scores = c.steps.scores.Seats
	var err error
	if out.Reading, out.Live, err = c.of.state(); err != nil {
		out.Error = err.Error()
	}
	return out
}

func (c *commands) frame(n int) (Frame, error) {
	t, made := c.steps.turn(n)
	if t != c.at || made < c.made {
		pos, words, err := c.of.turn(t)
		if err != nil {
			return Frame{}, err
		}
		c.at, c.made, c.pos, c.words = t, 0, pos, words
		c.block, c.taken = pos.Block, pos.Field()
	}
	for ; c.made < made && c.made < len(c.words); c.made++ {
		if word, ok := dropblox.ParseCommand(c.words[c.made]); ok && !c.pos.Failed {
			word.Carry(&c.block, &c.taken)
		}
	}
	out := Frame{Label: fmt.Sprintf("Turn %d", t), Turn: t, Of: len(c.words), Made: c.made}
	out.First = max(0, min(c.made-window, len(c.words)-2*window))
	out.Moves = c.words[out.First:min(len(c.words), out.First+2*window)]
	out.Seats = []Seat{{Score: c.pos.Score, Turn: !c.pos.Failed}}
	c.paint(&out)
	if c.pos.Failed {
		out.Red, out.Over = true, c.ending(t)
	}
	return out, nil
}

// ending describes the end of a game, the position before turn t.
func (c *commands) ending(t int) string {
	why := "The board is full"
	if t > 0 {
		before, _, err := c.of.turn(t - 1)
		if err == nil && before.Bitmap == c.pos.Bitmap && before.Preview == c.pos.Preview {
			why = "Time is up"
		}
	}
	return fmt.Sprintf("%s · %s", why, points(c.pos.Score))
}

// paint paints the visible rows, the block at its current place, where it would land, and the next blocks.
func (c *commands) paint(out *Frame) {
	var f env.Frame
	b := c.picture(&f)
	next := f.Tray("next", env.Everybody)
	for k := range c.pos.Preview {
		p := &c.pos.Preview[k]
		cells := p.Cells()
		at := func(k int) (x, y int) { return int(cells[k].J), int(cells[k].I) }
		next.Add(env.Cell{Kind: env.CellPiece, Letter: 'B', Ink: ink(int(p.Type))}, len(cells), at)
	}
	out.paint(&f)
	out.Boards[0] = board(b, dropblox.Hidden)
}

// picture adds the board, with the block at its current place and where it would land.
func (c *commands) picture(f *env.Frame) *env.Board {
	b := f.Add("", dropblox.Cols, dropblox.Rows)
	for i := range c.pos.Bitmap {
		for j, v := range c.pos.Bitmap[i] {
			if v != 0 {
				b.Set(j, i, env.Cell{Kind: env.CellSettled, Ink: ink(int(v) - 1)})
			}
		}
	}
	if !c.pos.Failed {
		ghost := c.block
		ghost.Drop(&c.taken)
		lay(b, &ghost, env.CellGhost)
	}
	lay(b, &c.block, env.CellPiece)
	return b
}

func lay(on *env.Board, b *dropblox.Block, kind env.CellKind) {
	cell := env.Cell{Kind: kind, Letter: 'B', Ink: ink(int(b.Type))}
	for _, o := range b.Cells() {
		on.Set(int(b.Center.J)+int(o.J), int(b.Center.I)+int(o.I), cell)
	}
}

// ink is a block's colour: by type up to five squares, by size above, and one for unknown types.
func ink(t int) uint8 {
	small := [...]uint8{1, 2, 3, 4, 5, 6, 7, 15}
	switch {
	case t < 0 || t >= dropblox.Types:
		return 9
	case dropblox.SizeOf(t) > 5:
		return uint8(4 + dropblox.SizeOf(t))
	}
	return small[t%len(small)]
}

// recorded is a record of Dropblox as turns of commands. The actions of a record are resting places; the
// commands are the shortest ones that lead there.
type recorded struct {
	*recordReplay
	known int // turns in the steps
	path  []dropblox.Command
}

func (r *recorded) grow(deadline time.Time, into *steps) {
	r.advance(deadline)
	// The action from the last position is known when there is a next one.
	for n := 0; r.known < r.ready() && (n < 8 || time.Now().Before(deadline)); n++ {
		r.timeline.Seek(r.known)
		into.add(r.timeline.State().Score(0))
		into.extend(len(r.words()))
		r.known++
	}
}

// ready is the number of turns whose commands are known.
func (r *recorded) ready() int {
	if r.timeline.Done() && !r.cut {
		return r.timeline.Len()
	}
	return r.timeline.Len() - 1
}

// words are the commands of the timeline's current turn.
func (r *recorded) words() []string {
	s, a := r.timeline.State().(*dropblox.State), r.timeline.Moves()[0]
	if a == env.None {
		return nil
	}
	path, err := s.Path(a, r.path[:0])
	if r.path = path; err != nil {
		return nil
	}
	var out []string
	for _, c := range path {
		out = append(out, c.String())
	}
	return out
}

func (r *recorded) turn(t int) (*dropblox.Position, []string, error) {
	r.timeline.Seek(t)
	p := r.timeline.State().(*dropblox.State).Position()
	return &p, r.words(), nil
}

func (r *recorded) state() (reading, live bool, err error) {
	in := r.info()
	if in.Error != "" {
		err = errors.New(in.Error)
	}
	return in.Reading || r.known < r.ready(), in.Live, err
}
