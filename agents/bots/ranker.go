package bots

import (
	"fmt"
	"slices"
	"strings"

	"blockyard/agents/bots/entry"
	"blockyard/env"
)

// A Ranker values the actions of a position as the agent of a spec does.
type Ranker struct {
	entry.Ranker
	// Unit says what a value means, in words. Odds says that it is the log odds that the seat wins.
	Unit string
	Odds bool
}

// ParseRanker returns what values the actions of positions of g as the agent with this spec does, which must be one
// that searches with an evaluator.
func ParseRanker(g *env.Game, spec string) (*Ranker, error) {
	r, err := openRanker(g, spec)
	if err != nil {
		return nil, fmt.Errorf("agent %.80q: %w", spec, err)
	}
	return r, nil
}

func openRanker(g *env.Game, spec string) (*Ranker, error) {
	name, rest, _ := strings.Cut(spec, ":")
	e := Of(g)
	if name == "random" || name == "first" || name == "exec" || e.FixedAgent(name) != nil {
		valued := slices.DeleteFunc(e.Names(), func(name string) bool { return e.FixedAgent(name) != nil })
		return nil, fmt.Errorf("it gives no values to actions: want %s", strings.Join(valued, ", "))
	}
	judges, o, err := trusted.judged(g, name, rest)
	if err != nil {
		return nil, err
	}
	judge, err := judges.create()
	if err != nil {
		return nil, err
	}
	s := searchOf(e)
	if s.Ranker == nil {
		return nil, fmt.Errorf("the search of %s gives no values to actions", g.Name)
	}
	ranker, err := s.Ranker(g, judge, o)
	if err != nil {
		return nil, err
	}
	r := &Ranker{Ranker: ranker, Unit: "points of an evaluator" + onlyHere}
	switch name {
	case "learned":
		r.Unit, r.Odds, err = unitOf(g, e, o.Weights)
	case "hand":
		r.Unit = "points of the hand-tuned baseline" + onlyHere
	}
	return r, err
}

// onlyHere is the end of a Unit without a scale of its own.
const onlyHere = ": higher is better; compare values of one position only"

// logOdds is the note "output" of a network whose output is the log odds of winning.
const logOdds = "log odds of winning"

// unitOf says what the values of a search with a network mean, which the file of the network says.
func unitOf(g *env.Game, e *entry.Entry, file string) (unit string, odds bool, err error) {
	if e.Learned.Unit != "" {
		return e.Learned.Unit, false, nil
	}
	_, facts, err := e.ReadNet(g, trusted.Weights, file)
	switch output := facts.Notes["output"]; output {
	case logOdds:
		return logOdds, true, err
	case "":
		return "output of the network" + onlyHere, false, err
	default:
		return "output of the network, " + output + onlyHere, false, err
	}
}
