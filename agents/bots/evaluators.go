package bots

import (
	"fmt"
	"reflect"
	"slices"

	"blockyard/agents/bots/entry"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
)

// A maker makes an evaluator for one agent. It is safe for concurrent use.
type maker func() (entry.Evaluator, error)

// evaluators are what a spec names to evaluate positions.
type evaluators struct {
	create maker
	net    *mlp.Net // nil if they evaluate without a network
	output string   // what the file of the network says about its output
}

// evaluators returns those of an agent that searches, with weights from a file, or the game's own if none is named.
func (t Text) evaluators(g *env.Game, e *entry.Entry, agent, file string) (evaluators, error) {
	switch agent {
	case "hand":
		w, err := e.Baseline.LoadFrom(t.Read, file)
		return evaluators{create: func() (entry.Evaluator, error) { return e.Baseline.New(w), nil }}, err
	case "learned":
		net, facts, err := e.ReadNet(g, t.Read, file)
		create := func() (entry.Evaluator, error) { return e.Learned.Over(net.Clone(), facts) }
		return evaluators{create: create, net: net, output: facts.Notes["output"]}, err
	}
	if file != "" {
		return evaluators{}, fmt.Errorf("option weights: %s has no weights to read", agent)
	}
	i := slices.IndexFunc(e.Others, func(o entry.Other) bool { return o.Name == agent })
	return evaluators{create: func() (entry.Evaluator, error) { return e.Others[i].New(), nil }}, nil
}

// Bytes, estimated generously. TestMemoryIsStated compares what is stated with what agents take.
const (
	agentMemory     = 512       // of an agent that takes its search from a pool
	externalMemory  = 128 << 10 // of the buffers for an external program
	evaluatorMemory = 4 << 10   // of an evaluator without its network
)

// Memory returns the most that the agents of a's Factory take. It makes none of them.
func (a *Agent) Memory() entry.Memory {
	switch {
	case a.Kind != Ours:
		return entry.Memory{Agent: externalMemory}
	case a.evaluators.create == nil:
		return entry.Memory{Agent: agentMemory}
	}
	return a.evaluators.memory(a.game, Of(a.game), a.options)
}

// memory returns what agents that search with these evaluators take.
func (j evaluators) memory(g *env.Game, e *entry.Entry, o entry.Options) (m entry.Memory) {
	s := searchOf(e)
	one := s.Memory(g, o) + evaluatorMemory
	if j.net != nil {
		shared, clone := j.net.Memory()
		m.Spec = shared
		inputs := int64(e.Learned.Features.Own) * int64(g.MaxLegal) // of all positions that one choice leads to
		if e.Search != nil {
			inputs *= 2 // the game's own evaluators let them grow to twice what they hold
		}
		one += clone + 4*(inputs+2*int64(j.net.In()))
	}
	if s.Stateful {
		m.Agent = one
	} else {
		m.Search, m.Agent = one, agentMemory
	}
	return m
}

// searchMemory is the most that a search of package search takes: levels of positions, and pairs of actions.
func searchMemory(g *env.Game, o search.Options) int64 {
	levels := max(o.Ply, 2)
	switch {
	case o.Nodes > 0: // Deepening has five levels and TwoPly
		levels = 7
	case g.Rows > 1 || g.MaxSeats == 1: // Expectimax has one level more than TwoPly, and three with a fourth ply
		levels = min(levels, 3)
		if o.Ply > 3 {
			levels = 5
		}
	case o.Ply > 2 && g.MaxSeats > 2: // Minimax has a Reply for games of more seats
		levels += 2
	}
	// A level has an action, a value, a slot, an output, a rank and a position for each legal action. Slices grow to
	// one and a half of what they hold, the allocator rounds positions up.
	state := int64(reflect.TypeOf(g.New(g.MinSeats)).Elem().Size())
	level := int64(g.MaxLegal) * (3*(2+4+8+4+8+16)/2 + state + state/8)
	const pair = 2 * 16
	total := int64(levels)*level + pair*int64(o.Width) + 8*state
	if o.Ply > 2 && g.Rows == 1 && g.MaxSeats > 1 { // Minimax has its table, and a list of actions for each level
		total += search.TableMemory + int64(levels)*pair*int64(o.Width)
	}
	return total
}
