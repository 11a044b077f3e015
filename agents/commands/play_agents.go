package commands

import (
	"context"
	"errors"
	"fmt"

	"blockyard/agents/bots"
	"blockyard/agents/match"
	"blockyard/env"
)

// contestants returns the agents that a user names for a contest. Where programs are started for every turn, agents of
// ours cannot play, and a program of the same name comes first.
func contestants(g *env.Game, texts []string) (list []*bots.Agent, err error) {
	for k, text := range texts {
		a, err := bots.Parse(g, bots.Own(text))
		if bots.Of(g).Host.Open == nil && (err != nil || a.Kind == bots.Ours) {
			if p, e := bots.Parse(g, bots.Own("exec:"+text)); e == nil {
				p.Name = text
				a, err = p, nil
			}
		}
		if err != nil {
			return nil, fmt.Errorf("bot %d: %w", k+1, err)
		}
		list = append(list, a)
	}
	return list, nil
}

// factories returns what makes some agents; nil for a person, if persons may play. It compiles what has to be compiled;
// forget removes that, also after an error.
func factories(ctx context.Context, agents []*bots.Agent, persons bool) (
	makers []bots.Factory, forget func(), err error,
) {
	forget, err = bots.PrepareAll(ctx, agents...)
	for _, a := range agents {
		var f bots.Factory
		if err == nil && !(persons && a.Kind == bots.Human) {
			f, err = a.Factory()
		}
		if err != nil {
			return nil, forget, err
		}
		makers = append(makers, f)
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
			return nil, errors.Join(fmt.Errorf("%s: %w", names[seat], err), match.Close(out))
		}
		out[seat] = a
	}
	return out, nil
}
