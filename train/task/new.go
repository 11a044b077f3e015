package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"blockyard/agents/entry"
	"blockyard/agents/registry"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/games"
)

// ErrNone is wrapped if a game cannot be trained.
var ErrNone = errors.New("there is nothing to train for this game")

// tuned are the games with more than New gives them.
var tuned = []*Game{BlockBattle, TetrisDuel, Blocking, WinTetris, Dropblox}

// Of returns what training g needs. Variants share the network of the game that they are
// variants of, which is the one to train.
func Of(g *env.Game) (*Game, error) {
	var known []string
	for _, first := range trainable() {
		if first != g {
			known = append(known, first.Name)
			continue
		}
		if i := slices.IndexFunc(tuned, func(t *Game) bool { return t.Rules == g }); i >= 0 {
			return tuned[i], nil
		}
		return New(g, registry.Of(g)), nil
	}
	return nil, fmt.Errorf("%s: %w; there are %s", g.Name, ErrNone, strings.Join(known, ", "))
}

// trainable lists the first game of every entry that has features, and a way to play by them.
func trainable() (list []*env.Game) {
	seen := map[string]bool{}
	for _, g := range games.All {
		e := registry.Of(g)
		if !seen[e.Game] && e.FeaturesOf(g) != nil && (g.MaxSeats == 1 || e.Search == nil && e.Baseline != nil) {
			list = append(list, g)
		}
		seen[e.Game] = true
	}
	return list
}

// New returns what training g needs, from its entry alone: games start as they always do, and
// a game of one seat pays its score.
func New(g *env.Game, e *entry.Entry) *Game {
	f := &e.Learned.Features
	t := &Game{
		Rules: g, Features: f.Names, Own: f.Own, Reader: f.New, entry: e, Outcomes: e.Outcomes,
		Hand: func() search.Evaluator {
			hand, _ := e.Evaluator(nil)
			return hand
		},
		Learned: e.Evaluator,
		Damage:  func(env.State, *env.Rand) {},
	}
	if g.MaxSeats == 1 {
		t.Solo = &Solo{Discount: 0.99, Unit: 0.01}
	}
	return t
}

// merge gives t what a game adds to it.
func merge(t *Game, add Game) *Game {
	t.Worth, t.Chance, t.Damage, t.Mirror, t.Start = add.Worth, add.Chance, add.Damage, add.Mirror, add.Start
	if add.Solo != nil {
		t.Solo = add.Solo
	}
	return t
}

// zeroSum is Game.Worth of a baseline whose evaluation is one seat's gain and the other's loss,
// and reads only what the features show.
func zeroSum(e *entry.Entry) func() func(before, after env.State, seat int) float32 {
	return func() func(before, after env.State, seat int) float32 {
		hand, _ := e.Evaluator(nil)
		states, out := make([]env.State, 1), make([]float32, 1)
		return func(_, after env.State, seat int) float32 {
			states[0] = after
			hand.Evaluate(states, seat, out)
			return out[0]
		}
	}
}

// below draws a number from 0 to n-1.
func below(r *env.Rand, n int) int { return int(r.Next() >> 33 % uint64(n)) }
