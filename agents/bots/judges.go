package bots

import (
	"fmt"

	"blockyard/agents/bots/entry"
	"blockyard/agents/mlp"
	"blockyard/env"
)

// A maker makes a judge for one agent. It is safe for concurrent use.
type maker func() (entry.Judge, error)

// judges are what a spec names to judge positions.
type judges struct {
	create maker
	net    *mlp.Net // nil if they judge without a network
	output string   // what the file of the network says about its output
}

// sources returns, by the name of an agent, what reads the weights of its judge from a file,
// or takes the game's own if no file is named.
func (t Text) sources(g *env.Game, e *entry.Entry) map[string]func(file string) (judges, error) {
	all := map[string]func(string) (judges, error){}
	for _, other := range e.Others {
		all[other.Name] = func(file string) (judges, error) {
			if file != "" {
				return judges{}, fmt.Errorf("option weights: %s has no weights to read", other.Name)
			}
			return judges{create: func() (entry.Judge, error) { return other.New(), nil }}, nil
		}
	}
	if e.Baseline != nil {
		all["hand"] = func(file string) (judges, error) {
			w, err := e.Baseline.LoadFrom(t.Read, file)
			return judges{create: func() (entry.Judge, error) { return e.Baseline.New(w), nil }}, err
		}
	}
	if e.Learned != nil {
		all["learned"] = func(file string) (judges, error) {
			net, facts, err := e.ReadNet(g, t.Read, file)
			create := func() (entry.Judge, error) { return e.Learned.New(net.Clone()) }
			return judges{create: create, net: net, output: facts.Notes["output"]}, err
		}
	}
	return all
}
