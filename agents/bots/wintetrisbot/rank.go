package wintetrisbot

import (
	"context"
	"fmt"
	"slices"

	"blockyard/agents/bots/entry"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/wintetris"
)

// A ranker is an entry.Ranker: the solver's own rating of all resting places.
type ranker struct{ solver *Solver }

func newRanker(g *env.Game, j entry.Judge, o entry.Options) (entry.Ranker, error) {
	if g == wintetris.TickGame {
		return nil, fmt.Errorf("%s: an action is the keys of one tick, which has no value of its own; want %s or %s",
			g.Name, wintetris.Game.Name, wintetris.InstantGame.Name)
	}
	if _, err := newAgent(g, j, o); err != nil {
		return nil, err
	}
	return &ranker{NewSolver(j.(Rater), 1)}, nil
}

// Rank implements entry.Ranker. A place with a cell above the field ends the game; two places that cover the same cells
// have the same value.
func (r *ranker) Rank(_ context.Context, state env.State, _ int, _ env.Action) (out []entry.Choice, err error) {
	s := state.(*wintetris.State)
	r.solver.begin(&s.Field, s.Piece)
	if r.solver.n == 0 {
		return nil, nil
	}
	r.solver.rate(&s.Field, s.Upcoming().Kind)
	legal := s.Legal(0, nil)
	values := map[wintetris.Block]float32{} // by the first place that covers the cells
	for i, k := 0, 0; i < r.solver.n; i++ {
		m, value := r.solver.moves[i], -search.Win+1
		switch {
		case !m.Inside():
		case r.solver.twice(i):
			value = values[m.First()]
		default:
			value = float32(r.solver.worth[k])
			values[m.First()] = value
			k++
		}
		if slices.Contains(legal, m.Action()) { // some variants list only one of two places with the same cells
			out = append(out, entry.Choice{Action: m.Action(), Value: value})
		}
	}
	return out, nil
}

// Line implements entry.Ranker: the place of the next piece is part of a value, but the rating does not tell it.
func (r *ranker) Line(context.Context, env.State, int, env.Action) ([]entry.Ply, error) {
	return nil, nil
}
