package env

import (
	"errors"
	"fmt"
	"slices"
)

// ErrIllegal is wrapped by every error about an action that is not legal.
var ErrIllegal = errors.New("illegal action")

// Apply is Step for moves from an untrusted source. If an acting seat's choice is neither
// legal nor None, or a seat that is not acting makes a choice, Apply returns an error that
// wraps ErrIllegal and names game, seat and action. It then leaves s unchanged.
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
	return fmt.Sprintf("%d, want 0 to %d", a, g.Actions-1)
}
