package main

import (
	"errors"

	"blockyard/agents/registry"
	"blockyard/env"
	"blockyard/env/vec"
)

// opponents returns what parses the opponents that clients name. Unless clients are trusted,
// it refuses those that read files or run commands on this machine.
func opponents(trusted bool) func(g *env.Game, spec string) (vec.AgentFactory, error) {
	parse := registry.Parse
	if !trusted {
		parse = registry.ParseUntrusted
	}
	return func(g *env.Game, spec string) (vec.AgentFactory, error) {
		factory, err := parse(g, spec)
		if errors.Is(err, registry.ErrUntrusted) {
			err = errors.New("clients may not name files or commands of the server's machine; serve --trust-specs allows it")
		}
		return vec.AgentFactory(factory), err
	}
}
