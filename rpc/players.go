package main

import (
	"fmt"
	"strings"

	"blockyard/agents/registry"
	"blockyard/env"
	"blockyard/env/vec"
)

// players reads the opponents that clients name. Unless clients are trusted, they may not
// name what reads files or runs commands on this machine.
func players(trusted bool) func(g *env.Game, text string) (vec.AgentFactory, error) {
	return func(g *env.Game, text string) (vec.AgentFactory, error) {
		if !trusted && (strings.HasPrefix(text, "exec") || strings.Contains(text, "weights")) {
			return nil, fmt.Errorf("clients may not name files or commands of the server's machine; serve --trust-specs allows it")
		}
		factory, err := registry.Parse(g, text)
		return vec.AgentFactory(factory), err
	}
}

// playerNames lists whom every client may name.
func playerNames(g *env.Game) []string { return registry.Names(g) }
