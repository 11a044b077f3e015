// Package spec turns the name of a player, written as text, into a player.
//
//	random                      any legal action, all equally likely
//	first                       the legal action with the lowest id
//	hand, learned, …            a search with one of the game's evaluators
//	hand:ply=1                  options follow a colon, separated by commas
//	learned:ply=3,width=8,weights=FILE,time=50ms
//
// Options of a search: ply (how many own choices it looks ahead), width (how many lines
// the third ply goes on with), weights (a file for the evaluator), time (limit for one
// choice).
package spec

import (
	"fmt"
	"strings"

	"blockyard/agents/search"
	"blockyard/env"
)

// A Factory makes a new agent for one game; its random choices follow from seed. It is
// safe for concurrent use, the agents are not. Agents whose factory call would fail at
// Parse time already do: what can be checked or loaded early is.
type Factory func(seed uint64) (env.Agent, error)

// Parse reads text as a player of g. The error names what is unknown and lists what is
// known instead.
func Parse(g *env.Game, text string) (Factory, error) {
	name, rest, _ := strings.Cut(text, ":")
	switch name {
	case "random":
		if rest != "" {
			return nil, fmt.Errorf("agent %q: random takes no options", text)
		}
		return func(seed uint64) (env.Agent, error) { return search.NewRandom(seed), nil }, nil
	case "first":
		if rest != "" {
			return nil, fmt.Errorf("agent %q: first takes no options", text)
		}
		return func(uint64) (env.Agent, error) { return search.NewFirst(), nil }, nil
	}
	return nil, fmt.Errorf("agent %q: unknown name %q; known for %s: first, random", text, name, g.Name)
}
