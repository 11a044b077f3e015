package games

import (
	"fmt"
	"strings"

	"blockyard/agents/search"
)

// Opponent returns a new evaluator of an agent that a network in training can play against: the baseline ("hand") or
// another evaluator of the game's entry. An error lists their names.
func (g *Game) Opponent(name string) (search.Evaluator, error) {
	if name == "hand" {
		return g.Hand(), nil
	}
	known := []string{"hand"}
	if g.entry != nil {
		for _, other := range g.entry.Others {
			e, ok := other.New().(search.Evaluator)
			if ok && other.Name == name {
				return e, nil
			}
			if ok {
				known = append(known, other.Name)
			}
		}
	}
	return nil, fmt.Errorf("unknown opponent %.40q; there are %s", name, strings.Join(known, ", "))
}
