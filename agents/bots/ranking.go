package bots

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"blockyard/agents/bots/entry"
	"blockyard/agents/search"
	"blockyard/env"
)

// A Ranking is an entry.Ranker. With n plies it plays an action and lets a search of n-1 plies go on from there, so the
// value of the best action is that of the search of n plies, as long as that does not leave it out.
//
// Where seats take turns, it searches as many of the best actions at one ply as the search is wide; elsewhere, all.
type Ranking struct {
	game  *env.Game
	eval  search.Evaluator
	o     search.Options
	turns bool

	greedy *search.Greedy
	rest   [search.MaxPly]env.Agent // searches by plies, made when they are needed
}

// newRanking returns the ranking of g with the evaluator e that belongs to the search search.New(g, e, o).
func newRanking(g *env.Game, e search.Evaluator, o search.Options) (*Ranking, error) {
	if _, err := search.New(g, e, o); err != nil {
		return nil, err
	}
	o.Ply, o.Width = cmp.Or(o.Ply, 2), cmp.Or(o.Width, 12)
	return &Ranking{game: g, eval: e, o: o, turns: g.MaxSeats > 1 && g.Rows == 1, greedy: search.NewGreedy(g, e)}, nil
}

// Rank implements entry.Ranker. In a game of turns, it searches deeper only for the most promising actions, as many as
// the search is wide, and for also.
func (r *Ranking) Rank(ctx context.Context, s env.State, seat int, also env.Action) ([]entry.Choice, error) {
	legal, values := r.greedy.Values(s, seat)
	list := make([]entry.Choice, len(legal))
	for i, a := range legal {
		list[i] = entry.Choice{Action: a, Value: values[i]}
	}
	if len(list) == 0 || r.o.Ply == 1 {
		return list, nil
	}
	if r.turns && len(list) > r.o.Width {
		slices.SortStableFunc(list, func(a, b entry.Choice) int { return cmp.Compare(b.Value, a.Value) })
		rest := list[r.o.Width:]
		list = list[:r.o.Width:r.o.Width]
		if i := slices.IndexFunc(rest, func(c entry.Choice) bool { return c.Action == also }); i >= 0 {
			list = append(list, rest[i])
		}
	}
	for i := range list {
		var err error
		if list[i].Value, err = r.value(ctx, s, seat, list[i].Action); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// value returns the value of a: with three plies or more of seat's own, the mean over the draws that follow it.
func (r *Ranking) value(ctx context.Context, s env.State, seat int, a env.Action) (float32, error) {
	draws := 1
	if !r.turns && r.o.Ply > 2 {
		draws = r.o.Outcomes
	}
	var sum float32
	for draw := range draws {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		forced := zeros
		forced[0] = uint16(draw)
		s.Force(forced[:])
		child := r.game.New(s.SeatCount())
		child.CopyFrom(s)
		env.After(child, seat, a)
		v, err := r.child(ctx, child, seat)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum / float32(draws), nil
}

// child returns the value for seat of a position that its action has led to.
func (r *Ranking) child(ctx context.Context, s env.State, seat int) (float32, error) {
	if v, ended := search.Over(s, seat, 1); ended {
		return v, nil
	}
	mover := r.mover(s, seat)
	agent, err := r.agent(s, r.o.Ply-1)
	if err != nil {
		return 0, err
	}
	s.Force(zeros[:])
	a, err := agent.Act(ctx, s, mover)
	if err == nil {
		err = ctx.Err() // the search may not be complete
	}
	switch {
	case err != nil:
		return 0, err
	case r.replies(s): // the mover plays for itself, and what counts is what seat makes of it
		s.Force(zeros[:])
		env.After(s, mover, a)
		v, ended := search.Over(s, seat, 2)
		if !ended {
			out := []float32{0}
			r.eval.Evaluate([]env.State{s}, seat, out)
			v = out[0]
		}
		return v, nil
	case mover != seat:
		return later(-agent.(search.Reporter).Value()), nil
	}
	return later(agent.(search.Reporter).Value()), nil
}

// Line implements entry.Ranker. It ends before the first action that depends on a draw.
func (r *Ranking) Line(ctx context.Context, s env.State, seat int, a env.Action) (line []entry.Ply, err error) {
	plies := r.o.Ply - 1
	if !r.turns || r.replies(s) {
		plies = min(plies, 1)
	}
	for d := plies; d > 0; d-- {
		s.Force(zeros[:])
		env.After(s, seat, a)
		if s.Acting() == 0 {
			break
		}
		agent, err := r.agent(s, d)
		if err != nil {
			return nil, err
		}
		seat = r.mover(s, seat)
		if a, err = agent.Act(ctx, s, seat); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		line = append(line, entry.Ply{Seat: seat, Action: a})
	}
	return line, nil
}

// mover returns the seat whose action comes next in s for a search of seat.
func (r *Ranking) mover(s env.State, seat int) int {
	if r.turns {
		return s.Acting().First()
	}
	return seat
}

// replies reports whether the search goes only one reply further, in which the next seat plays for itself.
func (r *Ranking) replies(s env.State) bool { return r.turns && (r.o.Ply == 2 || s.SeatCount() > 2) }

// agent returns the search that goes on for so many plies from s.
func (r *Ranking) agent(s env.State, plies int) (a env.Agent, err error) {
	if r.replies(s) {
		plies = 1
	}
	if a = r.rest[plies]; a != nil {
		return a, nil
	}
	if r.turns && plies > 1 {
		a = search.NewMinimax(r.game, r.eval, plies, r.o.Width)
	} else {
		a, err = search.New(r.game, r.eval, search.Options{Ply: plies, Width: r.o.Width, Outcomes: r.o.Outcomes})
	}
	r.rest[plies] = a
	return a, err
}

var zeros [env.MaxDraws]uint16 // the draws that are forced where a search does not average over draws

// later returns a value that was found one ply further from the root.
func later(v float32) float32 {
	switch {
	case v > search.Limit:
		return v - 1
	case v < -search.Limit:
		return v + 1
	}
	return v
}

// A Ranker values the actions of a position as an agent does.
type Ranker struct {
	entry.Ranker
	// Unit says what a value means, in words. Odds says that it is the log odds that the seat wins.
	Unit string
	Odds bool
}

// NewRanker parses text and returns the Ranker of its agent. It returns an error for an agent that gives no values to
// actions, such as a program or a person.
func NewRanker(g *env.Game, t Text) (*Ranker, error) {
	a, err := Parse(g, t)
	if err != nil {
		return nil, err
	}
	return a.Ranker()
}

// Ranker returns what values actions as the agent does, which must search with an evaluator.
func (a *Agent) Ranker() (_ *Ranker, err error) {
	defer named(a.Spec, &err)
	e := Of(a.game)
	if a.evaluators.create == nil {
		valued := slices.DeleteFunc(e.Names(), func(name string) bool { return e.Fixed[name] != nil })
		return nil, fmt.Errorf("it gives no values to actions: want %s", strings.Join(valued, ", "))
	}
	s := searchOf(e)
	if s.Ranker == nil {
		return nil, fmt.Errorf("the search of %s gives no values to actions", a.game.Name)
	}
	evaluator, err := a.evaluators.create()
	if err != nil {
		return nil, err
	}
	ranker, err := s.Ranker(a.game, evaluator, a.options)
	r := &Ranker{Ranker: ranker, Unit: "points of an evaluator" + onlyHere}
	switch output := a.evaluators.output; {
	case a.name == "hand":
		r.Unit = "points of the hand-tuned baseline" + onlyHere
	case a.name != "learned":
	case e.Learned.Others[output] != nil:
		r.Unit = output + onlyHere
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

const logOdds = "log odds of winning" // the note "output" of a network whose output is the log odds of winning
