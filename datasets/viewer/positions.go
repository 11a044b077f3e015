package viewer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"blockyard/datasets/program/web/ask"
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
func (s *answering) marked(ctx context.Context, q *ask.Request) ([]byte, error) {
	turn, seat := q.Number("turn", -1, 0, 1<<40), q.Number("seat", -1, 0, env.MaxSeats-1)
	action := q.Number("action", -1, 0, int(env.None)-1)
	f, err := s.open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	frame, err := f.replay.marked(turn, seat, env.Action(action))
	if err != nil {
		return nil, err
	}
	return ask.JSON(&frame)
}

// analysis responds with the analysis of a turn. The replay stays free for other requests in the meantime.
func (s *answering) analysis(ctx context.Context, q *ask.Request) ([]byte, error) {
	if s.analyst == nil {
		return nil, ask.Status(ask.NotFound,
			errors.New("this viewer has no analyst: start it with agents analyze FILE --web"))
	}
	turn := q.Number("turn", -1, 0, 1<<40)
	f, err := s.open(ctx, q)
	if err != nil {
		return nil, err
	}
	request, err := f.replay.position(turn)
	known := s.analyst.Agents(f.shown.Game)
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if request.Agent = q.Get("agent"); !slices.Contains(known, request.Agent) {
		return nil, fmt.Errorf("agent %.80q: want one of %q", request.Agent, known)
	}
	out, err := s.analyst.Analyse(ctx, request)
	if err != nil {
		return nil, err
	}
	return ask.JSON(out)
}
