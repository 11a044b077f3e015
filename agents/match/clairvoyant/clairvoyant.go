// Package clairvoyant has an agent that knows what is hidden from players. It cheats, so it is for one thing only: a
// match between it and an honest agent says what that knowledge would be worth, and so how much better guesses of what
// is to come could gain at most. Only match.Play tells it anything, and only agents arena makes it.
package clairvoyant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"blockyard/agents/bots"
	"blockyard/agents/bots/entry"
	"blockyard/agents/match"
	"blockyard/agents/search"
	"blockyard/env"
)

// options are those of a spec:
//
//	pieces  pieces that it knows beyond those that everybody sees, 3 by default
//	width   own positions that it keeps after each of them, 12 by default
//	reply   1: it knows the opponent's action in this step
//	holes   1: and the holes of the garbage that falls in this step
//	weights a network in place of the shipped one
var options = entry.Search{Options: []entry.Option{
	{Name: "pieces", Max: 20}, {Name: "width", Max: 10000}, {Name: "reply", Max: 1}, {Name: "holes", Max: 1},
}}

// Is reports whether text names a clairvoyant.
func Is(text string) bool {
	name, _, _ := strings.Cut(text, ":")
	return name == bots.Clairvoyant
}

// Player returns the clairvoyant of g that text names, which is the user's own.
func Player(g *env.Game, text string) (p match.Player, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("agent %.80q: %w", text, err)
		}
	}()
	_, list, _ := strings.Cut(text, ":")
	o, err := options.ParseOptions(list, nil)
	switch {
	case err != nil:
		return p, err
	case g.MaxSeats < 2 || g.Rows < 2:
		return p, fmt.Errorf("%s hides nothing that decides, or has one seat: want a game in which seats act at once and "+
			"pieces are drawn, such as blockbattle", g.Name)
	case o.Eps > 0:
		return p, errors.New("option eps: it plays no random actions")
	case o.Numbers["holes"] > 0 && o.Numbers["reply"] == 0:
		return p, errors.New("option holes: they matter in this step only, with the opponent's action: want reply=1 too")
	}
	net, err := bots.Of(g).LoadNet(g, o.Weights)
	if err != nil {
		return p, err
	}
	return match.Player{Name: text, New: func(uint64) (env.Agent, error) {
		e, err := bots.Of(g).Evaluator(net)
		if err != nil {
			return nil, err
		}
		return New(g, e, cmp.Or(o.Numbers["pieces"], 3), cmp.Or(o.Numbers["width"], 12),
			o.Numbers["reply"] > 0, o.Numbers["holes"] > 0), nil
	}}, nil
}

// An Agent plays the first action of the best line that it finds for its own seat. A beam search plays as many actions
// as it knows hidden pieces; a two-ply search by the evaluator then values each position that is left.
type Agent struct {
	game          *env.Game
	eval          search.Evaluator
	pair          *search.TwoPly
	pieces, width int
	reply, holes  bool

	truth      match.Truth
	beam, next []line
	win        env.Action // wins in this step
}

// A line is a position that own actions lead to, the first of them, and its value.
type line struct {
	first env.Action
	state env.State
	value float32
}

// New returns an agent of g with the evaluator e, which it takes over. The other arguments are those of a spec.
func New(g *env.Game, e search.Evaluator, pieces, width int, reply, holes bool) *Agent {
	return &Agent{game: g, eval: e, pair: search.NewTwoPly(g, e), pieces: pieces, width: width, reply: reply, holes: holes}
}

// Foresee implements match.Clairvoyant: what it is told holds for the next call of Act, and for no other.
func (a *Agent) Foresee(t match.Truth) { a.truth = t }

// Act implements env.Agent. Unless Foresee has told it the truth about this very position, it returns an error.
func (a *Agent) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	if a.truth.Draws == nil {
		return env.None, bots.ErrClairvoyant
	}
	defer a.Foresee(match.Truth{})
	a.win = env.None
	a.beam = append(a.beam[:0], line{first: env.None, state: s})
	for k := range a.pieces {
		a.next = a.next[:0]
		for _, l := range a.beam {
			a.extend(l, seat, k)
		}
		switch {
		case ctx.Err() != nil || a.win != env.None:
			return a.win, ctx.Err()
		case len(a.next) > 0: // else every line loses, and those that lose last are left
			slices.SortStableFunc(a.next, func(x, y line) int { return cmp.Compare(y.value, x.value) })
			a.beam = append(a.beam[:0], a.next[:min(a.width, len(a.next))]...)
			continue
		}
		break
	}
	best, at := -2*search.Win, env.None
	for _, l := range a.beam {
		action, err := a.pair.Act(ctx, l.state, seat)
		if err != nil {
			return env.None, err
		}
		if l.first != env.None {
			action = l.first
		}
		if v := a.pair.Value(); v > best {
			best, at = v, action
		}
	}
	return at, nil
}

// extend adds the positions after each action of seat in a line, k actions after the present one, but for those in
// which the game has ended.
func (a *Agent) extend(l line, seat, k int) {
	from, states := len(a.next), []env.State(nil)
	for _, action := range l.state.Legal(seat, nil) {
		s := a.game.New(l.state.SeatCount())
		s.CopyFrom(l.state)
		if k == 0 {
			l.first = action
		}
		if m := a.truth.Moves; k == 0 && a.reply && m != env.NoMoves {
			draws := match.Draws{Seed: a.truth.Draws.Seed, Rest: 1}
			if a.holes {
				draws.Rest = a.truth.Draws.Rest
			}
			m[seat] = action
			draws.Step(a.game, s, m, a.truth.Step)
		} else {
			s.Force([]uint16{a.truth.Draws.Last(a.truth.Step + k)})
			env.After(s, seat, action)
		}
		if v, ended := search.Over(s, seat, k+1); !ended {
			a.next, states = append(a.next, line{first: l.first, state: s}), append(states, s)
		} else if v > 0 {
			a.win = action
		}
	}
	for i := range states { // one by one, as the other boards may differ too
		out := []float32{0}
		a.eval.Evaluate(states[i:i+1], seat, out)
		a.next[from+i].value = out[0]
	}
}
