// Package registry turns the name of a player, written as text, into a player.
//
//	random                      any legal action, all equally likely
//	first                       the legal action with the lowest id
//	hand, learned, …            a search with one of the game's evaluators
//	hand:ply=1                  options follow a colon, separated by commas
//	learned:ply=3,width=8,weights=FILE,time=50ms
//	exec:CMD                    a program that talks the game's contest protocol; CMD is
//	                            the rest of the text, run as a shell would
//
// Options of a search:
//
//	ply      how many choices it looks ahead: 1, 2 (the default), 3 or 4; up to 6 where seats
//	         take turns, if two play (if more do, 2)
//	width    how many lines a ply goes on with that does not go on with all
//	weights  a file of weights for the evaluator instead of those it is shipped with
//	time     limit for one choice, such as 50ms; without it the search is exhaustive
//
// WinTetris has a search of its own, its demo solver's (package agents/wintetrisbot):
//
//	weights  as above
//	parts    over how many ticks the search is split, 4 unless told; in wintetris:tick alone
//
// Dropblox has a beam search over the known blocks (package agents/dropbloxbot):
//
//	weights  as above
//	width    boards kept after every block, 50 unless told
//	depth    how many of the six known blocks are looked at, all unless told
//	time     limit for one choice, such as 200ms, instead of a width: as wide as fits
package registry

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/env"
)

// A Factory makes a new agent for one game; its random choices follow from seed. It is
// safe for concurrent use, the agents are not. What can be checked or loaded when the
// text is parsed, is: a Factory that Parse returned fails only if starting a player does.
type Factory func(seed uint64) (env.Agent, error)

// Names lists the players of g that Parse knows by name, those of every game first.
func Names(g *env.Game) []string {
	names := []string{"random", "first"}
	if c := find(g); c != nil {
		for _, e := range c.evaluators {
			names = append(names, e.name)
		}
		for _, p := range c.players {
			names = append(names, p.name)
		}
	}
	return names
}

// Parse reads text as a player of g. The error names what is wrong in it and lists what
// is known instead.
func Parse(g *env.Game, text string) (Factory, error) {
	f, err := parse(g, text)
	if err != nil {
		return nil, fmt.Errorf("agent %q: %w", text, err)
	}
	return f, nil
}

func parse(g *env.Game, text string) (Factory, error) {
	name, rest, colon := strings.Cut(text, ":")
	switch name {
	case "random", "first":
		if colon {
			return nil, fmt.Errorf("%s takes no options", name)
		}
		if name == "first" {
			return func(uint64) (env.Agent, error) { return search.NewFirst(), nil }, nil
		}
		return func(seed uint64) (env.Agent, error) { return search.NewRandom(seed), nil }, nil
	}
	c := find(g)
	if c == nil {
		c = &offer{}
	}
	for _, e := range c.evaluators {
		if e.name != name {
			continue
		}
		o, err := readOptions(rest)
		if err != nil {
			return nil, err
		}
		o.Outcomes = c.outcomes
		return searcher(g, e, o)
	}
	for _, p := range c.players {
		if p.name == name {
			return p.open(g, rest)
		}
	}
	known := Names(g)
	if c.outside != nil {
		if name == "exec" {
			return program(g, c, rest)
		}
		known = append(known, "exec:CMD")
	}
	return nil, fmt.Errorf("unknown player %q; %s has %s", name, g.Name, strings.Join(known, ", "))
}

// program is somebody else's program as a player.
func program(g *env.Game, c *offer, command string) (Factory, error) {
	argv := contest.Command(command)
	if len(argv) == 0 {
		return nil, errors.New("exec: no command is named")
	}
	return func(uint64) (env.Agent, error) { return c.outside(g, argv), nil }, nil
}

// options are those of a search.
type options struct {
	search.Options
	weights string
	limit   time.Duration
}

func readOptions(text string) (options, error) {
	var o options
	if text == "" {
		return o, nil
	}
	for _, part := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "ply":
			o.Ply, err = number(value, search.MaxPly)
		case "width":
			o.Width, err = number(value, 10000)
		case "weights":
			if o.weights = value; value == "" {
				err = errors.New("no file is named")
			}
		case "time":
			if o.limit, err = time.ParseDuration(value); err == nil && o.limit <= 0 {
				err = fmt.Errorf("%v is no time to think", o.limit)
			}
		default:
			return o, fmt.Errorf("unknown option %q; there are ply, time, weights, width", key)
		}
		if err != nil {
			return o, fmt.Errorf("option %s: %w", key, err)
		}
	}
	return o, nil
}

// number reads a number from 1 to most.
func number(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is not a number from 1 to %d", text, most)
	}
	return n, nil
}
