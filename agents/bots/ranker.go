package bots

import (
	"fmt"
	"slices"
	"strings"

	"blockyard/agents/bots/entry"
	"blockyard/env"
)

// A Ranker values the actions of a position as an agent does.
type Ranker struct {
	entry.Ranker
	// Unit says what a value means, in words. Odds says that it is the log odds that the seat wins.
	Unit string
	Odds bool
}

// NewRanker parses text and returns the Ranker of the agent.
func NewRanker(g *env.Game, t Text) (*Ranker, error) {
	a, err := Parse(g, t)
	if err != nil {
		return nil, err
	}
	return a.Ranker()
}

// Ranker returns what values the actions of positions as the agent does, which must be one that searches with an
// evaluator.
func (a *Agent) Ranker() (_ *Ranker, err error) {
	defer named(a.Spec, &err)
	e := Of(a.game)
	if a.judges.create == nil {
		valued := slices.DeleteFunc(e.Names(), func(name string) bool { return e.Fixed[name] != nil })
		return nil, fmt.Errorf("it gives no values to actions: want %s", strings.Join(valued, ", "))
	}
	s := searchOf(e)
	if s.Ranker == nil {
		return nil, fmt.Errorf("the search of %s gives no values to actions", a.game.Name)
	}
	judge, err := a.judges.create()
	if err != nil {
		return nil, err
	}
	ranker, err := s.Ranker(a.game, judge, a.options)
	r := &Ranker{Ranker: ranker, Unit: "points of an evaluator" + onlyHere}
	switch output := a.judges.output; {
	case a.name == "hand":
		r.Unit = "points of the hand-tuned baseline" + onlyHere
	case a.name != "learned":
	case e.Learned.Unit != "":
		r.Unit = e.Learned.Unit
	case output == logOdds:
		r.Unit, r.Odds = logOdds, true
	case output == "":
		r.Unit = "output of the network" + onlyHere
	default:
		r.Unit = "output of the network, " + output + onlyHere
	}
	return r, err
}

// onlyHere is the end of a Unit without a scale of its own.
const onlyHere = ": higher is better; compare values of one position only"

// logOdds is the note "output" of a network whose output is the log odds of winning.
const logOdds = "log odds of winning"
