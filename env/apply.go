package env

import (
	"errors"
	"fmt"
	"slices"
)

// ErrIllegal is wrapped by every refusal of an action that is not legal.
var ErrIllegal = errors.New("illegal action")

// Apply is Step for moves from outside. It returns an error that wraps ErrIllegal and
// names game, seat and action, and then leaves s unchanged, when an acting seat's choice
// is neither legal nor None, or when a seat that is not acting chooses.
func Apply(g *Game, s State, m Moves) error {
	acting := s.Acting()
	if acting == 0 {
		return fmt.Errorf("%s: the game is over: %w", g.Name, ErrIllegal)
	}
	var legal []Action
	for seat, a := range m {
		if a == None {
			continue
		}
		if !acting.Has(seat) {
			return fmt.Errorf("%s: seat %d is not to move: %w: %s", g.Name, seat, ErrIllegal, name(g, a))
		}
		legal = s.Legal(seat, legal[:0])
		if _, ok := slices.BinarySearch(legal, a); !ok {
			return fmt.Errorf("%s: seat %d: %w: %s", g.Name, seat, ErrIllegal, name(g, a))
		}
	}
	s.Step(m)
	return nil
}

func name(g *Game, a Action) string {
	if int(a) < g.Actions {
		return g.Text(a)
	}
	return fmt.Sprintf("%d, of %d actions", a, g.Actions)
}
