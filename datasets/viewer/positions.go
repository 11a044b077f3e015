package viewer

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"blockyard/datasets/program/web"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// errHistory is the error for a replay that has no record.
var errHistory = errors.New("only a record can be analysed, and this game is a history folder: " +
	"agents host dropblox --record FILE writes a record as well")

// position implements replay.
func (p *recordReplay) position(n int) (analysis.Request, error) {
	r := p.timeline
	if n >= r.Len() {
		return analysis.Request{}, fmt.Errorf("turn %d: the game has turns 0 to %d", n, r.Len()-1)
	}
	r.Seek(n)
	s := r.Game.New(r.Rec.Seats)
	s.CopyFrom(r.State())
	return analysis.Request{Record: r.Rec, Turn: n, State: s, Moves: r.Moves()}, nil
}

// marked implements replay.
func (p *recordReplay) marked(n, seat int, a env.Action) (Frame, error) {
	if err := p.legal(n, seat, a); err != nil {
		return Frame{}, err
	}
	return p.paint(env.Alone(seat, a)), nil
}

// legal goes to turn n and returns an error if the seat cannot play a there.
func (p *recordReplay) legal(n, seat int, a env.Action) error {
	r, err := p.position(n)
	switch {
	case err != nil:
		return err
	case seat >= r.Record.Seats || !slices.Contains(r.State.Legal(seat, nil), a):
		return fmt.Errorf("turn %d: action %d is not legal for seat %d", n, a, seat)
	}
	return nil
}

// position implements replay.
func (c *commands) position(n int) (analysis.Request, error) {
	if r, ok := c.of.(*recorded); ok {
		return r.position(n)
	}
	return analysis.Request{}, errHistory
}

// marked implements replay.
func (c *commands) marked(n, seat int, a env.Action) (Frame, error) {
	r, ok := c.of.(*recorded)
	if !ok {
		return Frame{}, errHistory
	}
	if err := r.legal(n, seat, a); err != nil {
		return Frame{}, err
	}
	if n >= len(c.steps.starts) {
		return Frame{}, fmt.Errorf("turn %d is not read yet", n)
	}
	out, err := c.frame(c.steps.starts[n])
	if err != nil {
		return out, err
	}
	s := r.timeline.State().(*dropblox.State)
	at, block := dropblox.At(a), s.Block(0)
	shape := dropblox.NewShape(&block)
	var places []dropblox.Cell
	for _, o := range shape.Turn[at.R].Offsets[:shape.Size] {
		places = append(places, dropblox.Cell{I: o.I + int8(at.I), J: o.J + int8(at.J)})
	}
	out.Boards[0].ghost(places, ink(int(block.Type)))
	return out, nil
}

// ghost replaces the ghosts of a board of Dropblox by one in these places.
func (b *Board) ghost(places []dropblox.Cell, ink uint8) {
	cells, inks := []byte(b.Cells), []byte(b.Ink)
	for k, glyph := range cells {
		if glyph == 'b' {
			cells[k], inks[k] = '.', '0'
		}
	}
	for _, c := range places {
		if row := int(c.I) - dropblox.Hidden; row >= 0 {
			k := row*b.W + int(c.J)
			cells[k], inks[k] = 'b', digits[ink&15]
		}
	}
	b.Cells, b.Ink = string(cells), string(inks)
}

// marked responds with the frame of a turn that shows another action.
func (s *Server) marked(w http.ResponseWriter, r *http.Request) error {
	q := query{Request: r}
	turn, seat := q.number("turn", -1, 0, 1<<40), q.number("seat", -1, 0, env.MaxSeats-1)
	action := q.number("action", -1, 0, int(env.None)-1)
	f, err := s.open(&q)
	if err != nil {
		return err
	}
	defer f.mu.Unlock()
	frame, err := f.replay.marked(turn, seat, env.Action(action))
	if err == nil {
		web.Answer(w, &frame)
	}
	return err
}

// analysis responds with the analysis of a turn. The replay stays free for other requests in the meantime.
func (s *Server) analysis(w http.ResponseWriter, r *http.Request) error {
	if s.analyst == nil {
		return web.Status(http.StatusNotFound,
			errors.New("this viewer has no analyst: start it with agents analyze FILE --web"))
	}
	q := query{Request: r}
	turn := q.number("turn", -1, 0, 1<<40)
	f, err := s.open(&q)
	if err != nil {
		return err
	}
	request, err := f.replay.position(turn)
	known := s.analyst.Agents(f.shown.Game)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if request.Agent = r.FormValue("agent"); !slices.Contains(known, request.Agent) {
		return fmt.Errorf("agent %.80q: want one of %q", request.Agent, known)
	}
	out, err := s.analyst.Analyse(r.Context(), request)
	if err == nil {
		web.Answer(w, out)
	}
	return err
}
