package commands

import (
	"context"
	"fmt"
	"io"

	"blockyard/agents/bots"
	"blockyard/env"
)

// contestant returns the agent that a user names for a contest. Where programs are started for every turn, agents of
// ours cannot play, and a program of the same name comes first.
func contestant(g *env.Game, text string) (*bots.Agent, error) {
	a, err := bots.Parse(g, bots.Own(text))
	if bots.Of(g).Host.Open == nil && (err != nil || a.Kind == bots.Ours) {
		if p, e := bots.Parse(g, bots.Own("exec:"+text)); e == nil {
			p.Name = text
			return p, nil
		}
	}
	return a, err
}

// factories returns what makes the agents of a game's seats, nil for those of persons. It compiles what has to be
// compiled; forget removes that, also after an error.
func factories(ctx context.Context, agents []*bots.Agent) (makers []bots.Factory, forget func(), err error) {
	if forget, err = bots.PrepareAll(ctx, agents...); err != nil {
		return nil, forget, err
	}
	makers = make([]bots.Factory, len(agents))
	for seat, a := range agents {
		if a.Kind == bots.Human {
			continue
		}
		if makers[seat], err = a.Factory(); err != nil {
			return nil, forget, err
		}
	}
	return makers, forget, nil
}

// seated returns the agents of one game, nil where there is no maker.
func seated(makers []bots.Factory, names []string, seed uint64) ([]env.Agent, error) {
	out := make([]env.Agent, len(makers))
	for seat, f := range makers {
		if f == nil {
			continue
		}
		a, err := f(env.Derive(seed, uint64(seat)))
		if err != nil {
			closeAgents(out)
			return nil, fmt.Errorf("%s: %w", names[seat], err)
		}
		out[seat] = a
	}
	return out, nil
}

// closeAgents closes those agents of a game that can be closed.
func closeAgents(agents []env.Agent) {
	for _, a := range agents {
		if c, ok := a.(io.Closer); ok {
			_ = c.Close()
		}
	}
}
