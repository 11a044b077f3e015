// Package human lets a person play at a terminal. Where an action places a piece, keys move a preview of it; in every
// game a move can be typed as text; wintetris:tick is played in real time.
package human

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"blockyard/env"
	"blockyard/env/ansi"
)

// ErrQuit says that the person has left the game.
var ErrQuit = errors.New("you left the game")

// A Player is an agent whose actions a person chooses. Several seats of a game may share one.
type Player struct {
	Game *env.Game
	Keys *Keys     // what the person types
	Out  io.Writer // where the position is shown
	// Raw says that Keys gets single keys and that Out understands control sequences. Otherwise Keys gets whole lines.
	Raw    bool
	Colour bool

	frame env.Frame
	legal []env.Action
	note  string // about the last key or line
}

var _ env.Agent = (*Player)(nil)

// Act implements env.Agent.
func (p *Player) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	p.legal = s.Legal(seat, p.legal[:0])
	if p.Raw {
		return p.byKeys(ctx, s, seat)
	}
	return p.byLines(ctx, s, seat)
}

// byLines asks for a move as text until one is legal.
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

// read reads a typed move. If there is none, it sets note.
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
	for _, l := range p.legal {
		if l == a {
			return a, true, nil
		}
	}
	p.note = fmt.Sprintf("%s is not legal now; ? lists the legal moves", p.Game.Text(a))
	return env.None, false, nil
}

// list is the legal moves as text, in columns.
func (p *Player) list() string {
	var b strings.Builder
	for k, a := range p.legal {
		fmt.Fprintf(&b, "%-16s", p.Game.Text(a))
		if k%6 == 5 {
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n ")
}

// show draws the position, with the effect of an action, if that is not env.None, in place of the piece's own.
func (p *Player) show(s env.State, seat int, a env.Action) error {
	p.frame.Reset()
	s.Show(&p.frame)
	if m, ok := s.(env.Marker); ok && a != env.None {
		p.unghost()
		m.Mark(&p.frame, seat, a)
	}
	text := p.frame.String()
	if p.Colour {
		text = ansi.Frame(&p.frame)
	}
	if p.Raw {
		text = "\x1b[H\x1b[2J" + text
	}
	_, err := io.WriteString(p.Out, text)
	return err
}

// unghost empties the cells of ghosts in the frame.
func (p *Player) unghost() {
	for k := range p.frame.Boards {
		p.frame.Boards[k].Unghost()
	}
}
