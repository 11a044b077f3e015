// Package referee holds a game of Blocking between two to four programs, by the contest's
// protocol (rules §6), with its time limits and faults (§5.3).
package referee

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blockyard/agents/blockingbot"
	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blocking"
)

// The faults a bot is eliminated for.
const (
	Illegal = "illegal" // an answer that is no legal placement, or cannot be read
	Timeout = "timeout" // no answer in time
	Exit    = "exit"    // its process has ended or closed its output
	Missing = "missing" // it could not be started
)

// Limits are how long an answer may take.
type Limits struct {
	First, Later time.Duration
	Tolerance    time.Duration // beyond both, for a loaded machine
}

// A Game is one game. It belongs to one goroutine.
type Game struct {
	State  *blocking.State // after Reset
	Limits Limits
	// Start starts the bot of a seat, at its first turn: what that takes is its own time.
	Start func(seat int) (contest.Asker, error)

	// Log gets every line; seat is -1 for the host's own. It may be nil.
	Log func(kind contest.Kind, seat int, text string)
	// Watch gets every position with the action played in it, env.None for a fault.
	Watch func(s *blocking.State, seat int, a env.Action)

	bots    [env.MaxSeats]contest.Asker
	others  [env.MaxSeats][]string // moves not yet told to a seat
	tallies []Tally
}

// A Tally is how one bot came through a game.
type Tally struct {
	Score   int           `json:"score"` // -1 if it was eliminated
	Rank    int           `json:"rank"`
	Points  int           `json:"points"` // squares laid, eliminated or not
	Fault   string        `json:"fault,omitempty"`
	Answers int           `json:"answers"`
	Used    time.Duration `json:"used_ns"`
	Longest time.Duration `json:"longest_ns"`
}

// Play plays the game and closes the bots. The error is that of ctx.
func (g *Game) Play(ctx context.Context) ([]Tally, error) {
	s := g.State
	g.tallies = make([]Tally, s.Seats)
	var err error
	for turn := 1; s.Reason == blocking.Running; turn++ {
		if err = g.turn(ctx, turn); err != nil {
			break
		}
	}
	for _, b := range g.bots {
		if b != nil {
			_ = b.Close()
		}
	}
	for seat := range g.tallies {
		t := &g.tallies[seat]
		t.Score, t.Rank, t.Points = s.Score(seat), s.Rank(seat), int(s.Points[seat])
	}
	if err == nil {
		g.log(contest.Note, -1, "over: "+s.Reason.String())
	}
	return g.tallies, err
}

// turn asks the seat to move and plays what it answers.
func (g *Game) turn(ctx context.Context, turn int) error {
	s := g.State
	seat := int(s.Turn)
	g.log(contest.Note, -1, fmt.Sprintf("Turn %d", turn))
	line, fault, err := g.ask(ctx, seat)
	if err != nil {
		return err
	}
	a := env.None
	if fault == "" {
		legal := false
		if a, legal = s.Judge(seat, line); !legal {
			fault = Illegal
		}
	}
	if g.Watch != nil {
		g.Watch(s, seat, a)
	}
	if fault != "" {
		g.eliminate(seat, fault)
	} else {
		for i := range g.others {
			if i != seat {
				g.others[i] = append(g.others[i], blockingbot.Move(seat, line))
			}
		}
	}
	before := s.Stuck
	s.Step(env.Alone(seat, a))
	for set := s.Stuck &^ before; set != 0; set = set.Rest() {
		g.log(contest.Remark, set.First(), "no placement is left: it is not asked any more")
	}
	return nil
}

// ask gets seat's answer, or its fault. The error is that of ctx.
func (g *Game) ask(ctx context.Context, seat int) (line, fault string, err error) {
	lines, limit := blockingbot.Request(g.State, seat, g.others[seat]), g.Limits.Later
	g.others[seat] = nil
	began := time.Now()
	if g.bots[seat] == nil {
		lines = append(blockingbot.Greeting(g.State, seat), lines...)
		limit = g.Limits.First
		b, err := g.Start(seat)
		if err != nil {
			g.log(contest.Remark, seat, err.Error())
			return "", Missing, ctx.Err()
		}
		g.bots[seat] = b
	}
	started := time.Since(began)
	for _, l := range lines {
		g.log(contest.ToBot, seat, l)
	}
	line, cut, elapsed, err := g.bots[seat].Ask(ctx, lines, limit+g.Limits.Tolerance-started)
	t := &g.tallies[seat]
	elapsed += started
	t.Used += elapsed
	t.Longest = max(t.Longest, elapsed)
	switch {
	case errors.Is(err, contest.ErrLate):
		return "", Timeout, nil
	case errors.Is(err, contest.ErrGone):
		return "", Exit, nil
	case err != nil:
		return "", "", err
	}
	t.Answers++
	g.log(contest.FromBot, seat, line)
	if cut {
		return "", Illegal, nil
	}
	return line, "", nil
}

// eliminate takes a bot out of the game.
func (g *Game) eliminate(seat int, fault string) {
	g.tallies[seat].Fault = fault
	g.log(contest.Remark, seat, "eliminated: "+fault)
	if g.bots[seat] != nil {
		_ = g.bots[seat].Close()
	}
}

func (g *Game) log(k contest.Kind, seat int, text string) {
	if g.Log != nil {
		g.Log(k, seat, text)
	}
}
