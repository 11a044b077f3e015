package bots

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"blockyard/agents/bots/entry"
	"blockyard/agents/contest"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
)

// A Factory creates an agent for one game, whose random choices follow from seed. A Factory
// is safe for concurrent use, its agents are not. Parse loads and checks whatever it can, so
// that a Factory only fails if it cannot start an agent.
type Factory func(seed uint64) (env.Agent, error)

// ErrUntrusted is wrapped by errors about specs that read files or run commands.
var ErrUntrusted = errors.New("reads files or runs commands on this machine")

// Parse turns a spec into agents of g. An error says what is wrong with the spec and lists
// what is known instead.
func Parse(g *env.Game, spec string) (Factory, error) { return trusted.Parse(g, spec) }

// trusted is the access of the user of this machine.
var trusted = Access{Weights: mlp.ReadFile, Commands: true}

// Access is what a spec may use of this machine. With the zero value it is safe to parse specs of
// strangers.
type Access struct {
	// Weights returns the bytes that the option weights names. nil refuses all with ErrUntrusted.
	Weights  entry.Reader
	Commands bool // whether the agent exec may start programs
}

// Parse is the function Parse within the access. It returns ErrUntrusted for what is not allowed.
func (a Access) Parse(g *env.Game, spec string) (Factory, error) {
	f, err := a.open(g, spec)
	if err != nil {
		return nil, fmt.Errorf("agent %.80q: %w", spec, err)
	}
	return f, nil
}

func (a Access) open(g *env.Game, spec string) (Factory, error) {
	name, rest, colon := strings.Cut(spec, ":")
	e := Of(g)
	fixed := e.FixedAgent(name)
	switch {
	case (name == "random" || name == "first" || fixed != nil) && colon:
		return nil, fmt.Errorf("%s takes no options", name)
	case fixed != nil:
		p := &pool{create: func() (env.Agent, error) { return fixed(), nil }} // without a memory, as searches are
		return func(uint64) (env.Agent, error) { return &pooledAgent{pool: p}, nil }, nil
	case name == "random":
		return func(seed uint64) (env.Agent, error) { return search.NewRandom(seed), nil }, nil
	case name == "first":
		return func(uint64) (env.Agent, error) { return search.NewFirst(), nil }, nil
	case name == "exec" && e.Contest != nil:
		if !a.Commands {
			return nil, ErrUntrusted
		}
		return external(g, e.Contest, rest)
	}
	judge, o, err := a.judged(g, name, rest)
	if err != nil {
		return nil, err
	}
	return searcher(g, searchOf(e), judge.create, o)
}

// judged reads the spec of an agent that searches: what makes its judge, and its options.
func (a Access) judged(g *env.Game, name, options string) (judges, entry.Options, error) {
	e := Of(g)
	source, ok := a.sources(g, e)[name]
	if !ok {
		known := Names(g)
		if e.Contest != nil {
			known = append(known, "exec:CMD")
		}
		return judges{}, entry.Options{},
			fmt.Errorf("unknown agent %.40q; %s has %s", name, g.Name, strings.Join(known, ", "))
	}
	o, err := searchOf(e).ParseOptions(options)
	if err == nil && o.Weights != "" && a.Weights == nil {
		err = ErrUntrusted
	}
	if err != nil {
		return judges{}, o, err
	}
	judge, err := source(o.Weights)
	return judge, o, err
}

// external returns agents that are an external program.
func external(g *env.Game, c *entry.Contest, command string) (Factory, error) {
	argv := contest.Command(command)
	if len(argv) == 0 {
		return nil, errors.New("exec: no command is named")
	}
	return func(uint64) (env.Agent, error) { return c.External(g, argv), nil }, nil
}

// A maker makes a judge for one agent. It is safe for concurrent use.
type maker func() (entry.Judge, error)

// judges are what a spec names to judge positions.
type judges struct {
	create maker
	net    *mlp.Net // nil if they judge without a network
}

// sources returns, by the name of an agent, what reads the weights of its judge from a file,
// or takes the game's own if no file is named.
func (a Access) sources(g *env.Game, e *entry.Entry) map[string]func(file string) (judges, error) {
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
			w, err := e.Baseline.LoadFrom(a.Weights, file)
			return judges{create: func() (entry.Judge, error) { return e.Baseline.New(w), nil }}, err
		}
	}
	if e.Learned != nil {
		all["learned"] = func(file string) (judges, error) {
			net, err := e.LoadNetFrom(g, a.Weights, file)
			return judges{create: func() (entry.Judge, error) { return e.Learned.New(net.Clone()) }, net: net}, err
		}
	}
	return all
}

// HandTuned returns agents that play as "hand:options" with these weights, one for each term
// of the game's baseline. The options name no file of weights.
func HandTuned(g *env.Game, weights []float32, options string) (Factory, error) {
	e := Of(g)
	if e.Baseline == nil || len(weights) != len(e.Baseline.Terms) {
		return nil, fmt.Errorf("%d weights do not fit %s", len(weights), g.Name)
	}
	weights = slices.Clone(weights)
	s := searchOf(e)
	o, err := s.ParseOptions(options)
	if err == nil && o.Weights != "" {
		err = errors.New("option weights: the weights are given")
	}
	if err != nil {
		return nil, fmt.Errorf("agent %.80q: %w", "hand:"+options, err)
	}
	return searcher(g, s, func() (entry.Judge, error) { return e.Baseline.New(weights), nil }, o)
}
