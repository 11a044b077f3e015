package viewer

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"blockyard/datasets/program/web"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
)

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
