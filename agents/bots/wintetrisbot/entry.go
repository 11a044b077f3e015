// Package wintetrisbot plays WinTetris (package env/wintetris) by its demo solver, with the hand-tuned rating or a
// trained net. "Rules §n" in comments is section n of env/wintetris/RULES.md.
package wintetrisbot

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/wintetris"
)

//go:embed weights features.txt
var shipped embed.FS

// FeatureNames names them in order. All are of the settled cells alone, after a placement and the rows it completed.
var FeatureNames = features.Names(shipped)

// Entry is what programs offer for WinTetris.
var Entry = &entry.Entry{
	Game: "wintetris",
	Baseline: &entry.Baseline{Terms: TermNames[:], Weights: Demo[:],
		New: func(w []float32) entry.Evaluator { return NewHand(Weights(w)) }},
	Learned: &entry.Learned{
		Features: features.Set{Names: FeatureNames, Own: Len, New: func() features.Reader { return FeatureReader{} }},
		Except:   []string{wintetris.TickGame.Name}, // its actions are keys
		Files:    shipped, File: "weights/wintetris.safetensors",
		New: func(n *mlp.Net) entry.Evaluator { return NewLearned(n) },
		Others: map[string]func(*mlp.Net) entry.Evaluator{
			Survival: func(n *mlp.Net) entry.Evaluator { return NewSurvivor(n) }},
		Unit: "0.1 is a completed row; a row counts 3 % less for every piece that it is later",
	},
	Others: []entry.Other{
		{Name: "dt10", New: func() entry.Evaluator { return &DT10 }},
		{Name: "dt20", New: func() entry.Evaluator { return &DT20 }},
		{Name: "dellacherie", New: func() entry.Evaluator { return &Dellacherie }},
	},
	Search: &entry.Search{
		Options:  []entry.Option{{Name: "parts", Max: MaxParts}, {Name: "width", Max: wintetris.MaxMoves}},
		New:      newAgent,
		Ranker:   newRanker,
		Stateful: true, // a solver follows one piece over many ticks
		Memory:   func(*env.Game, entry.Options) int64 { return int64(unsafe.Sizeof(Solver{}) + unsafe.Sizeof(Agent{})) },
	},
	Submission: &entry.Submission{Build: "its contest loads a shared library: " +
		"go build -buildmode=c-shared -o libwintetris_solver.so ./agents/submit/wintetris"},
}

func newAgent(g *env.Game, j entry.Evaluator, o entry.Options) (env.Agent, error) {
	parts := o.Numbers["parts"]
	switch {
	case parts == 0:
		parts = wintetris.Parts
	case g != wintetris.TickGame:
		return nil, fmt.Errorf("option parts: %s has the rules' own number; only %s leaves it to the agent",
			g.Name, wintetris.TickGame.Name)
	}
	width := o.Numbers["width"]
	if s, ok := j.(*Survivor); ok {
		s.rows, s.width = wintetris.Height, cmp.Or(width, s.width)
		if g == wintetris.Paper10Game {
			s.rows = wintetris.Paper10.Rows()
		}
	} else if width > 0 {
		return nil, errors.New("option width: only a network that was trained on survival looks beyond some places")
	}
	return NewAgent(NewSolver(j.(Rater), parts)), nil
}

// A ranker is an entry.Ranker: the solver's own rating of all resting places.
type ranker struct{ solver *Solver }

func newRanker(g *env.Game, j entry.Evaluator, o entry.Options) (entry.Ranker, error) {
	if g == wintetris.TickGame {
		return nil, fmt.Errorf("%s: an action is the keys of one tick, which has no value of its own; want %s or %s",
			g.Name, wintetris.Game.Name, wintetris.InstantGame.Name)
	}
	if _, err := newAgent(g, j, o); err != nil {
		return nil, err
	}
	return &ranker{NewSolver(j.(Rater), 1)}, nil
}

// Rank values all places. One above the field ends the game; two that cover the same cells have the same value.
func (r *ranker) Rank(_ context.Context, state env.State, _ int, _ env.Action) (out []entry.Choice, err error) {
	s := state.(*wintetris.State)
	next := r.solver.beginState(s)
	if r.solver.n == 0 {
		return nil, nil
	}
	r.solver.rate(&s.Field, next)
	legal := s.Legal(0, nil)
	values := map[wintetris.Block]float32{} // by the first place that covers the cells
	for i, k := 0, 0; i < r.solver.n; i++ {
		m, value := r.solver.moves[i], -search.Win+1
		switch {
		case m.Top() >= r.solver.rows:
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
