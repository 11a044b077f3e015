// Package human lets a person play at a terminal. A Player takes moves as text in every game; on a raw terminal, keys
// also move a preview over the legal placements. A Ticker plays wintetris:tick in real time.
package human

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"blockyard/datasets/viewer"
	"blockyard/env"
	"blockyard/env/ansi"
	"blockyard/env/paint"
)

// ErrQuit says that the person has left the game on purpose.
var ErrQuit = errors.New("you left the game")

// A Player is an agent whose actions a person chooses. Several seats of a game may share one.
type Player struct {
	Game *env.Game
	Keys *Keys     // what the person types
	Out  io.Writer // where the position is shown
	// Raw says that Keys gets single keys and that Out is a terminal with control sequences. Otherwise Keys gets lines.
	Raw    bool
	Colour bool

	frame env.Frame
	legal []env.Action
	note  string // about the last key or line
}

var _ env.Agent = (*Player)(nil)

// Act implements env.Agent. It returns ErrQuit, or what ctx ends with, if the person makes no choice.
func (p *Player) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	p.legal = s.Legal(seat, p.legal[:0])
	if p.Raw {
		return p.byKeys(ctx, s, seat)
	}
	return p.byLines(ctx, s, seat)
}

func (p *Player) byLines(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if err := p.show(s, seat, env.None); err != nil {
		return env.None, err
	}
	for {
		fmt.Fprintf(p.Out, "seat %d, your move (such as %q; ? lists all, q leaves): ", seat+1, p.Game.Text(p.legal[0]))
		line, err := p.Keys.Next(ctx)
		if err != nil {
			return env.None, err
		}
		a, done, err := p.read(strings.TrimSpace(line))
		if done || err != nil {
			return a, err
		}
		fmt.Fprintln(p.Out, p.note)
	}
}

// read parses a typed line. If it is no legal move, done is false and note says why or lists the moves.
func (p *Player) read(line string) (a env.Action, done bool, err error) {
	switch line {
	case "q", "quit":
		return env.None, false, ErrQuit
	case "", "?":
		p.note = p.list()
		return env.None, false, nil
	}
	a, err = p.Game.Parse(line)
	if err != nil {
		p.note = err.Error()
		return env.None, false, nil
	}
	if slices.Contains(p.legal, a) {
		return a, true, nil
	}
	p.note = fmt.Sprintf("%s is not legal now; ? lists the legal moves", p.Game.Text(a))
	return env.None, false, nil
}

func (p *Player) list() string {
	var b strings.Builder
	for k, a := range p.legal {
		fmt.Fprintf(&b, "%-15s", p.Game.Text(a))
		if k%5 == 4 {
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n ")
}

// show draws the position. If a is not env.None, it shows the cells that a fills instead of the ghost of the position.
func (p *Player) show(s env.State, seat int, a env.Action) error {
	p.frame.Reset()
	s.Show(&p.frame)
	if m, ok := s.(env.Marker); ok && a != env.None {
		for k := range p.frame.Boards {
			p.frame.Boards[k].Unghost()
		}
		m.Mark(&p.frame, seat, a)
	}
	return Show(p.Out, &p.frame, p.Colour, p.Raw)
}

// Show writes a position: on a terminal in the place of the one before.
func Show(w io.Writer, f *env.Frame, colour, inPlace bool) error {
	text := f.String()
	if colour || inPlace {
		text = paint.Terminal(f, colour)
	}
	if inPlace {
		text = "\x1b[H\x1b[2J" + text
	}
	_, err := io.WriteString(ansi.Styled(w), text)
	return err
}

// Keys passes on what a person types, key by key on a raw terminal, and line by line otherwise.
type Keys struct {
	read func()      // begins to read
	got  chan string // closed at the end of the input
}

// NewKeys returns the keys that are read from in: single ones if it is a raw terminal, lines otherwise. A line of more
// than bufio.MaxScanTokenSize bytes ends the input.
func NewKeys(in io.Reader, raw bool) *Keys {
	k := &Keys{got: make(chan string)}
	typed := bufio.NewScanner(in)
	if raw {
		typed.Split(splitKeys)
	}
	k.read = sync.OnceFunc(func() {
		go func() {
			defer close(k.got)
			for typed.Scan() {
				k.got <- typed.Text()
			}
		}()
	})
	return k
}

// Next waits for the next key or line. At the end of the input the error is ErrQuit.
func (k *Keys) Next(ctx context.Context) (string, error) {
	k.read()
	select {
	case text, ok := <-k.got:
		if !ok {
			return "", ErrQuit
		}
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

var names = map[string]string{
	"\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left",
	"\x1bOA": "up", "\x1bOB": "down", "\x1bOC": "right", "\x1bOD": "left",
	"\r": "enter", "\n": "enter", "\t": "tab", " ": "space", "\x7f": "back", "\b": "back", "\x03": "quit", "\x04": "quit",
	"\x1b": "escape",
}

// splitKeys is a bufio.SplitFunc for what a terminal sends: names for the known keys, single characters otherwise.
func splitKeys(sent []byte, _ bool) (n int, key []byte, err error) {
	if len(sent) == 0 {
		return 0, nil, nil
	}
	if n = 1; len(sent) >= 3 && (string(sent[:2]) == "\x1b[" || string(sent[:2]) == "\x1bO") {
		n = 3
	}
	if name, ok := names[string(sent[:n])]; ok {
		return n, []byte(name), nil
	}
	return n, sent[:n], nil
}

// A spot is a legal action and the cells that it fills.
type spot struct {
	action      env.Action
	shape       string // the cells relative to left and the top row; the action as text if there are none
	left, depth int    // the first column and the last row of the cells
}

// spots returns the legal actions with the cells that they fill, which may be none, as for a pass.
func (p *Player) spots(s env.State, seat int) []spot {
	p.frame.Reset()
	s.Show(&p.frame)
	boards, _, _ := paint.Arrange(&p.frame)
	var out []spot
	for _, m := range new(viewer.Painter).Marks(p.Game, s, seat) {
		at := spot{action: m.Action, shape: m.Text}
		if n := len(m.Cells); n > 0 {
			w := boards[m.Board].W
			at.left, at.depth, at.shape = w, m.Cells[n-1]/w, ""
			for _, i := range m.Cells {
				at.left = min(at.left, i%w)
			}
			for _, i := range m.Cells {
				at.shape += fmt.Sprintf("%d,%d ", i%w-at.left, i/w-m.Cells[0]/w)
			}
		}
		out = append(out, at)
	}
	return out
}

const keysHelp = "← → column  ↑ turn  ↓ other depth  space place  : type a move  ? moves  q leave"

// byKeys lets the person move a preview over the legal actions.
func (p *Player) byKeys(ctx context.Context, s env.State, seat int) (env.Action, error) {
	spots := p.spots(s, seat)
	at := first(spots)
	typing, typed := false, ""
	for {
		if err := p.show(s, seat, spots[at].action); err != nil {
			return env.None, err
		}
		fmt.Fprintf(p.Out, "seat %d: %s   (%d of %d)\n%s\n%s", seat+1, p.Game.Text(spots[at].action), at+1, len(spots),
			keysHelp, p.note)
		if typing {
			fmt.Fprintf(p.Out, "\nmove: %s", typed)
		}
		p.note = ""
		key, err := p.Keys.Next(ctx)
		if err != nil {
			return env.None, err
		}
		switch {
		case key == "quit" || key == "q" && !typing:
			return env.None, ErrQuit
		case typing && key == "enter":
			a, done, err := p.read(typed)
			if done || err != nil {
				return a, err
			}
			typing, typed = false, ""
		case typing && key == "escape":
			typing, typed = false, ""
		case typing && key == "back":
			typed = typed[:max(0, len(typed)-1)]
		case typing && key == "space":
			typed += " "
		case typing && len(key) == 1:
			typed += key
		case key == ":":
			typing = true
		case key == "?":
			p.note = p.list()
		case key == "space" || key == "enter":
			return spots[at].action, nil
		default:
			at = move(spots, at, key)
		}
	}
}

// first is the spot that is shown first: one in the middle.
func first(spots []spot) int {
	best, middle := 0, 0
	for _, s := range spots {
		middle += s.left
	}
	middle /= len(spots)
	for k, s := range spots {
		if s.shape == spots[0].shape && abs(s.left-middle) < abs(spots[best].left-middle) {
			best = k
		}
	}
	return best
}

func move(spots []spot, at int, key string) int {
	now := spots[at]
	switch key {
	case "left", "h":
		return nearest(spots, at, func(s spot) bool { return s.shape == now.shape && s.left < now.left })
	case "right", "l":
		return nearest(spots, at, func(s spot) bool { return s.shape == now.shape && s.left > now.left })
	case "down", "j", "tab": // other places in the same column, such as under an overhang
		for k := 1; k < len(spots); k++ {
			to := (at + k) % len(spots)
			if spots[to].shape == now.shape && spots[to].left == now.left {
				return to
			}
		}
	case "up", "k":
		var shapes []string
		for _, s := range spots {
			if !slices.Contains(shapes, s.shape) {
				shapes = append(shapes, s.shape)
			}
		}
		next := shapes[(slices.Index(shapes, now.shape)+1)%len(shapes)]
		return nearest(spots, at, func(s spot) bool { return s.shape == next })
	}
	return at
}

// nearest returns the spot that suits and is closest to spot at; at itself if none suits.
func nearest(spots []spot, at int, suits func(spot) bool) int {
	best, distance := at, 1<<30
	for k, s := range spots {
		if !suits(s) {
			continue
		}
		if d := 1000*abs(s.left-spots[at].left) + abs(s.depth-spots[at].depth); d < distance {
			best, distance = k, d
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }
