// Package referee holds a game of the Tetris duel between two programs, by the process
// protocol (rules §13), with a time budget for the whole game (§9) and every way to lose
// (§8).
package referee

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// The reasons a game ends for, beyond those of the rules alone.
const (
	Exception = "exception" // a bot's process ended or closed its output
	Timeout   = "timeout"   // an answer came after the budget was spent, or not at all
	Missing   = "missing"   // a bot could not be started or was not ready in time
)

// Nobody is the winner of a drawn game, and of one that neither bot was there for.
const Nobody = -1

// A Game is one game between two bots. It belongs to one goroutine.
type Game struct {
	State *tetrisduel.State // after Reset
	Bots  [2]contest.Asker  // by seat; nil is one that could not be started
	Time  time.Duration     // budget of each bot
	Ready time.Duration     // to get ready in; 0 means tetrisduelbot.ReadyTime

	NoList    bool // requests leave the list of placements out
	TieByTime bool // equal points: whoever used less time wins

	// Log gets every line; seat is -1 for the host's own. It may be nil.
	Log func(kind contest.Kind, seat int, text string)
	// Watch gets every position with the action played in it, env.None for a fault.
	Watch func(s *tetrisduel.State, a env.Action)

	tallies [2]Tally
}

// A Tally is how one bot came through a game.
type Tally struct {
	Answers int           `json:"answers"`
	Used    time.Duration `json:"used_ns"`
	Left    time.Duration `json:"left_ns"` // of its budget
	Longest time.Duration `json:"longest_ns"`
}

// An Outcome is how a game ended. Arrays are by seat.
type Outcome struct {
	Winner  int // seat, or Nobody
	Reason  string
	Turns   int // half-turns begun
	Points  [2]int
	Tallies [2]Tally
}

// Play plays the game, tells both bots how it ended, and closes them. The error is that of
// ctx.
func (g *Game) Play(ctx context.Context) (Outcome, error) {
	for seat := range g.tallies {
		g.tallies[seat].Left = g.Time
	}
	winner, reason, err := g.greet(ctx)
	begun := reason == "" && err == nil
	if begun {
		winner, reason, err = g.turns(ctx)
	}
	if err == nil {
		g.log(contest.Note, -1, fmt.Sprintf("over by %s, winner %d", reason, winner+1))
	}
	for seat, b := range g.Bots {
		if b == nil {
			continue
		}
		if err == nil {
			line := tetrisduelbot.End(g.State, winner, reason)
			g.log(contest.ToBot, seat, line)
			_, _, _, _ = b.Ask(ctx, []string{line}, 0) // nobody waits for an answer
		}
		_ = b.Close()
	}
	out := Outcome{Winner: winner, Reason: reason, Tallies: g.tallies, Points: [2]int{g.State.Score(0), g.State.Score(1)}}
	if begun {
		out.Turns = int(g.State.Turn)
	}
	return out, err
}

func (g *Game) log(k contest.Kind, seat int, text string) {
	if g.Log != nil {
		g.Log(k, seat, text)
	}
}

// greet starts both bots; whoever is missing has lost.
func (g *Game) greet(ctx context.Context) (winner int, reason string, err error) {
	limit := g.Ready
	if limit == 0 {
		limit = tetrisduelbot.ReadyTime
	}
	var there [2]bool
	for seat, b := range g.Bots {
		if b == nil {
			g.log(contest.Remark, seat, "the bot could not be started")
			continue
		}
		lines := tetrisduelbot.Greeting(g.State, seat, g.Time)
		for _, l := range lines {
			g.log(contest.ToBot, seat, l)
		}
		line, _, _, err := b.Ask(ctx, lines, limit)
		switch {
		case ctx.Err() != nil:
			return Nobody, "", ctx.Err()
		case err != nil:
			g.log(contest.Remark, seat, "not ready: "+err.Error())
		default:
			g.log(contest.FromBot, seat, line)
			if there[seat] = tetrisduelbot.Ready(line); !there[seat] {
				g.log(contest.Remark, seat, "this does not say that it is ready")
			}
		}
	}
	switch there {
	case [2]bool{true, true}:
		return Nobody, "", nil
	case [2]bool{true, false}:
		return 0, Missing, nil
	case [2]bool{false, true}:
		return 1, Missing, nil
	}
	return Nobody, Missing, nil
}

// turns plays the half-turns.
func (g *Game) turns(ctx context.Context) (winner int, reason string, err error) {
	s := g.State
	for s.Acting() != 0 {
		seat := s.Mover()
		a, fault, err := g.ask(ctx, seat)
		if err != nil {
			return Nobody, "", err
		}
		if g.Watch != nil {
			g.Watch(s, a)
		}
		s.Step(env.Alone(seat, a))
		if fault != "" {
			return 1 - seat, fault, nil
		}
	}
	winner = int(s.Winner)
	if s.Reason == tetrisduel.Limit && winner < 0 && g.TieByTime {
		switch d := g.tallies[0].Used - g.tallies[1].Used; {
		case d < 0:
			winner = 0
		case d > 0:
			winner = 1
		}
	}
	return winner, s.Reason.String(), nil
}

// ask gets the mover's placement, or the reason it has lost for. The error is that of ctx.
func (g *Game) ask(ctx context.Context, seat int) (a env.Action, fault string, err error) {
	t := &g.tallies[seat]
	lines := tetrisduelbot.Request(g.State, t.Left, !g.NoList)
	for _, l := range lines {
		g.log(contest.ToBot, seat, l)
	}
	line, cut, elapsed, err := g.Bots[seat].Ask(ctx, lines, t.Left)
	late := errors.Is(err, contest.ErrLate) || err == nil && elapsed > t.Left
	if err != nil && !late && ctx.Err() != nil {
		return env.None, "", ctx.Err()
	}
	if elapsed > 0 {
		t.Used += elapsed
	}
	if elapsed > t.Longest {
		t.Longest = elapsed
	}
	t.Left = max(0, g.Time-t.Used)
	switch {
	case late:
		t.Left = 0
		g.log(contest.Remark, seat, "its time is over")
		return env.None, Timeout, nil
	case err != nil:
		g.log(contest.Remark, seat, "the bot has ended or closed its output")
		return env.None, Exception, nil
	}
	t.Answers++
	g.log(contest.FromBot, seat, line)
	a, ok := tetrisduelbot.Judge(g.State, line)
	if !ok || cut {
		g.log(contest.Remark, seat, "this is not a placement of the list")
		return env.None, tetrisduel.Illegal.String(), nil
	}
	return a, "", nil
}
