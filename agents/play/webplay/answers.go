package webplay

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"blockyard/datasets/program/web/ask"
	"blockyard/datasets/viewer/analysis"
	"blockyard/env"
)

// patience is how long a request waits for a change.
const patience = 20 * time.Second

// These are the range of the versions of a position; -1 is that of a page that has shown none.
const firstVersion, lastVersion = -1, 1 << 40

// Answers returns the answers to all that the page of the table asks.
func (t *Table) Answers() ask.Answers {
	return ask.Answers{
		"GET /api/position": t.position,
		"GET /api/hints":    t.hints,
		"POST /api/choose":  obey(func(o order) error { return t.choose(o.Version, env.Action(o.Action)) }),
		"POST /api/key":     obey(func(o order) error { return t.press(o.Key) }),
		"POST /api/again":   obey(func(o order) error { return t.restart(o.Version) }),
	}
}

func (t *Table) position(ctx context.Context, r *ask.Request) ([]byte, error) {
	after := r.Number("after", firstVersion-1, firstVersion, lastVersion)
	if err := r.Err(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	return ask.JSON(t.after(ctx, after))
}

// order is the body of a POST.
type order struct {
	Version int    `json:"version"`
	Action  int    `json:"action"`
	Key     string `json:"key"`
}

// obey answers a POST: it gives the body to do. An order that comes too late is a conflict.
func obey(do func(order) error) func(context.Context, *ask.Request) ([]byte, error) {
	return func(_ context.Context, r *ask.Request) ([]byte, error) {
		var o order
		if err := json.Unmarshal(r.Body, &o); err != nil {
			return nil, ask.Bad("body: %w", err)
		}
		if o.Action < 0 || o.Action >= int(env.None) {
			return nil, ask.Bad("action %d: want 0 to %d", o.Action, env.None-1)
		}
		if err := do(o); err != nil {
			return nil, ask.Status(ask.Conflict, err)
		}
		return ask.JSON(struct{}{})
	}
}

// hints responds with the best moves of the person who has to choose.
func (t *Table) hints(ctx context.Context, r *ask.Request) ([]byte, error) {
	version := r.Number("version", firstVersion-1, firstVersion, lastVersion)
	if err := r.Err(); err != nil {
		return nil, err
	}
	agent := r.Get("agent")
	if agents := t.agents(); !slices.Contains(agents, agent) {
		return nil, ask.Bad("agent %.80q: want one of %q", agent, agents)
	}
	state, rec, seat, turn, err := t.request(version)
	if err != nil {
		return nil, ask.Status(ask.Conflict, err)
	}
	got, err := t.Analyst.Analyse(ctx, analysis.Request{
		Record: rec, Turn: turn, State: state, Moves: env.NoMoves, Agent: agent,
	})
	if err != nil {
		return nil, err
	}
	got.Seats = slices.DeleteFunc(got.Seats, func(s analysis.Seat) bool { return s.Seat != seat })
	return ask.JSON(got)
}
