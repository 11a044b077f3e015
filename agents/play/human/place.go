package human

import (
	"context"
	"fmt"
	"slices"

	"blockyard/env"
)

// A spot is a legal action and the cells that it fills.
type spot struct {
	action      env.Action
	shape       string // the cells relative to left and the top row; the action as text if there are none
	left, depth int    // the first column and the last row of the cells
}

// spots returns the legal actions with the cells that they fill, which may be none, as for a pass.
func (p *Player) spots(s env.State, seat int) []spot {
	m, ok := s.(env.Marker)
	var out []spot
	for _, a := range p.legal {
		at := spot{action: a, shape: p.Game.Text(a)}
		if ok {
			p.frame.Reset()
			s.Show(&p.frame)
			p.unghost()
			m.Mark(&p.frame, seat, a)
			at.measure(p.frame.Boards)
		}
		out = append(out, at)
	}
	return out
}

// measure sets left, depth and shape from the first board that has a ghost.
func (at *spot) measure(boards []env.Board) {
	for _, b := range boards {
		var cells []int
		left := b.W
		for i, c := range b.Cells {
			if c.Kind == env.CellGhost {
				cells, left = append(cells, i), min(left, i%b.W)
			}
		}
		if len(cells) == 0 {
			continue
		}
		top := cells[0] / b.W
		at.left, at.depth, at.shape = left, cells[len(cells)-1]/b.W, ""
		for _, i := range cells {
			at.shape += fmt.Sprintf("%d,%d ", i%b.W-left, i/b.W-top)
		}
		return
	}
}

// keysHelp says what the keys do.
const keysHelp = "← → column   ↑ turn   ↓ other depth   space place   : type a move   ? all moves   q leave"

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

// move returns the spot to which a key leads.
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
