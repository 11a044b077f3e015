package envtest

import (
	"fmt"
	"hash/fnv"
	"slices"

	"blockyard/env"
)

// forcedDraws checks that forcing the draws of one game on a game with another seed makes it the
// same game. A step that draws more than the queue holds makes the games differ.
func (w *walker) forcedDraws(s env.State, ply int) error {
	draws := s.Draws(nil)
	if n := w.other.Force(draws); n != len(draws) {
		return fmt.Errorf("calling Force takes %d of %d draws", n, len(draws))
	}
	if ply == 0 {
		w.other.Reset(w.seed + 1)
	} else {
		w.other.Step(w.played)
	}
	if again := w.other.Draws(nil); !slices.Equal(again, draws) {
		return fmt.Errorf("draws %d were forced, %d made", draws, again)
	}
	if d := w.apart(s, w.other); d != "" {
		return fmt.Errorf("with draws forced, another game differs in %s", d)
	}
	return nil
}

// seeds checks that 64 consecutive seeds give at least 60 different games in rules that draw. All of them choose actions
// by the same random numbers, so that only what is drawn makes them differ; a dozen plies show it.
func seeds(g *env.Game, seats int, seed uint64) error {
	const games, least, plies = 64, 60, 12
	different, draws := map[uint64]bool{}, false
	s := g.New(seats)
	for k := range uint64(games) {
		w, seen := newWalker(g, seats, seed), fnv.New64a()
		s.Reset(seed + k)
		for range plies {
			draws = draws || len(s.Draws(nil)) > 0
			for seat := range seats {
				fmt.Fprint(seen, look(g, s, seat))
			}
			s.Step(w.moves(s))
		}
		different[seen.Sum64()] = true
	}
	if draws && len(different) < least {
		return fmt.Errorf("%d seeds give %d different games, want at least %d", games, len(different), least)
	}
	return nil
}

// afterstates checks that After depends only on state and action, that the seat then has an action or
// the game is over, and that After is Step in a game of turns. Check may refuse an afterstate, which
// is only for evaluation.
func (w *walker) afterstates(s env.State, _ int) error {
	for set := s.Acting(); set != 0; set = set.Rest() {
		if err := w.afterstate(s, set.First(), s.Acting().Len() > 1); err != nil {
			return fmt.Errorf("seat %d: %w", set.First(), err)
		}
	}
	return nil
}

func (w *walker) afterstate(s env.State, seat int, together bool) error {
	legal := s.Legal(seat, nil)
	a := legal[w.rng.IntN(len(legal))]
	x, y := w.clone(s), w.clone(s)
	env.After(x, seat, a)
	env.After(y, seat, a)
	if d := w.apart(x, y); d != "" {
		return fmt.Errorf("playing After action %d twice differs in %s", a, d)
	}
	if !together && w.g.Rows == 1 {
		y.CopyFrom(s)
		y.Step(env.Alone(seat, a))
		if d := w.apart(x, y); d != "" {
			return fmt.Errorf("playing After action %d is not Step: %s", a, d)
		}
	}
	if draws := x.Draws(nil); len(draws) > 0 {
		y.CopyFrom(s)
		y.Hide(1<<seat, 99)
		z := w.clone(y)
		y.Force(draws)
		env.After(y, seat, a)
		z.Force(draws)
		env.After(z, seat, a)
		if d := w.apart(y, z); d != "" {
			return fmt.Errorf("playing After action %d with forced draws differs in %s", a, d)
		}
	}
	for depth := range 3 {
		if acting := x.Acting(); together && acting != 0 && !acting.Has(seat) {
			return fmt.Errorf("after %d choices alone, seat %d is not to choose", depth+1, seat)
		}
		legal = x.Legal(seat, legal[:0])
		if x.Acting().Has(seat) != (len(legal) > 0) {
			return fmt.Errorf("after %d choices alone, %d legal actions", depth+1, len(legal))
		}
		look(w.g, x, seat)
		if len(legal) == 0 {
			break
		}
		env.After(x, seat, legal[w.rng.IntN(len(legal))])
	}
	return nil
}
