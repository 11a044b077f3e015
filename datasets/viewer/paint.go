package viewer

import (
	"fmt"
	"slices"

	"blockyard/env"
)

// A Painter paints positions that need not be of a recorded game, for pages that show them on the stage of the replay
// page. Its zero value is ready for use. It keeps memory and is not safe for concurrent use.
type Painter struct{ frame env.Frame }

// Position returns the frame of a position. names has the player of every seat, turn is the number of the position.
func (p *Painter) Position(s env.State, names []string, turn int) Frame {
	p.frame.Reset()
	s.Show(&p.frame)
	return p.finish(s, names, turn)
}

// Choosing is Position without ghosts, so that the page can draw those of Marks.
func (p *Painter) Choosing(s env.State, names []string, turn int) Frame {
	p.show(s)
	return p.finish(s, names, turn)
}

func (p *Painter) finish(s env.State, names []string, turn int) Frame {
	acting := s.Acting()
	out := Frame{Label: fmt.Sprintf("Turn %d", turn), Turn: turn}
	out.paint(&p.frame)
	for seat := range s.SeatCount() {
		seen := Seat{Score: s.Score(seat), Turn: acting.Has(seat)}
		if acting == 0 {
			result := s.Result(seat)
			seen.Result = &result
		}
		out.Seats = append(out.Seats, seen)
	}
	out.describe(&p.frame)
	if acting == 0 {
		out.Over = verdict(s, names)
	}
	return out
}

// show draws the position without ghosts.
func (p *Painter) show(s env.State) {
	p.frame.Reset()
	s.Show(&p.frame)
	for k := range p.frame.Boards {
		p.frame.Boards[k].Unghost()
	}
}

// A Mark is what an action fills on a board of Frame.Boards: the numbers of the cells, row by row from the top, and the
// glyph and the ink that all of them have. An action that fills nothing, such as a pass, has no cells.
type Mark struct {
	Action env.Action `json:"action"`
	Text   string     `json:"text"`
	Board  int        `json:"board"`
	Cells  []int      `json:"cells"`
	Glyph  string     `json:"glyph,omitempty"`
	Ink    string     `json:"ink,omitempty"`
}

// Marks returns what each legal action of an acting seat fills, in ascending order of the actions. If the game does not
// draw effects of actions, no mark has cells.
func (p *Painter) Marks(g *env.Game, s env.State, seat int) []Mark {
	p.show(s)
	drawn := make([][]env.Cell, len(p.frame.Boards))
	for k, b := range p.frame.Boards {
		drawn[k] = slices.Clone(b.Cells)
	}
	out := []Mark{}
	for _, a := range s.Legal(seat, nil) {
		for k, b := range p.frame.Boards {
			copy(b.Cells, drawn[k])
		}
		out = append(out, p.mark(g, s, seat, a))
	}
	return out
}

// mark returns what a legal action fills in s, which show has drawn.
func (p *Painter) mark(g *env.Game, s env.State, seat int, a env.Action) Mark {
	m := Mark{Action: a, Text: g.Text(a), Cells: []int{}}
	if marker, ok := s.(env.Marker); ok {
		marker.Mark(&p.frame, seat, a)
		m.find(&p.frame)
	}
	return m
}

// find sets what the ghost on the boards fills.
func (m *Mark) find(f *env.Frame) {
	board := 0
	for k := range f.Boards {
		if isTray(f, k) {
			continue
		}
		for n, c := range f.Boards[k].Cells {
			if c.Kind == env.CellGhost {
				m.Board, m.Glyph, m.Ink = board, string(c.Glyph()), string(digits[c.Ink&15])
				m.Cells = append(m.Cells, n)
			}
		}
		board++
	}
}
