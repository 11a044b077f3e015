package matches

import (
	"context"
	"encoding/json"
	"fmt"

	"blockyard/agents/fleet"
	"blockyard/agents/match"
	"blockyard/env/games"
)

// Open is the fleet.Kind by which workers play matches.
func Open(ctx context.Context, r *fleet.Run, get fleet.Get) (fleet.NewPlayer, error) {
	var s spec
	if err := json.Unmarshal(r.Spec, &s); err != nil {
		return nil, fmt.Errorf("match %s: %w", r.ID, err)
	}
	g, err := games.Recorded(r.Game, s.Table)
	if err != nil {
		return nil, fmt.Errorf("match %s: %w: run the same program", r.ID, err)
	}
	ours, err := facts(g)
	if err != nil {
		return nil, err
	}
	if err := r.Agree(ours); err != nil {
		return nil, err
	}
	if len(s.Players) < 1 || len(s.Players) > 2 {
		return nil, fmt.Errorf("match %s: %d players, want 1 or 2", r.ID, len(s.Players))
	}
	m := &match.Match{Rules: g, Seats: s.Seats, Cap: s.Cap, Steps: s.Steps}
	for _, p := range s.Players {
		to, err := p.open(g, func(name string) ([]byte, error) { return get(ctx, name) })
		if err != nil {
			return nil, fmt.Errorf("match %s: %w", r.ID, err)
		}
		m.Players = append(m.Players, to)
	}
	check, err := selfTest(ctx, m)
	if err == nil {
		err = r.AgreeSelfTest("the match", s.Check, check)
	}
	return func() (fleet.Player, error) { return unitPlayer(m), nil }, err
}

// unitPlayer plays units of a match.
func unitPlayer(m *match.Match) fleet.Player {
	return func(ctx context.Context, text json.RawMessage) (*fleet.Result, error) {
		var u match.Unit
		if err := json.Unmarshal(text, &u); err != nil {
			return nil, err
		}
		records, err := m.PlayUnit(ctx, u)
		r := &fleet.Result{Data: fleet.JSON(records), Games: len(records)}
		for _, g := range records {
			r.Moves += len(g.Choices)
		}
		return r, err
	}
}
