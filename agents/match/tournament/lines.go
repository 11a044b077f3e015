package tournament

import (
	"context"
	"fmt"
	"strings"

	"blockyard/agents/contest"
	"blockyard/agents/match"
	"blockyard/agents/match/series"
)

// Lines is a contest between programs that talk in lines.
type Lines struct {
	series.Lines
	Rival contest.Program // plays against an entrant in its test: any program that obeys the rules
}

var _ Contest = (*Lines)(nil)

// Test plays a game against Rival.
func (l *Lines) Test(ctx context.Context, e *Entrant) error {
	words := &contest.Tail{}
	m, g := l.Lines, match.Played{Seed: "1", Seats: make([]int, l.Rules.MinSeats)}
	for seat := range g.Seats {
		g.Seats[seat] = seat
	}
	m.Log, m.Errors = nil, words
	m.Player = func(number int) contest.Player {
		if number == 0 {
			return e.Player()
		}
		return contest.Player{Program: l.Rival, Name: "first", Agent: "first"}
	}
	_, err := m.Play(ctx, &g)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &Fault{Why: "does not start: " + err.Error()}
	}
	t, fault := g.Tallies[0], g.Fault(0)
	if fault != "" {
		fault = strings.Join(append([]string{fault}, t.Habits()...), ": ")
	}
	switch {
	case t.Answers == 0 && fault != "":
		fault = "never answers: " + fault
	case t.Answers == 0:
		fault = strings.Join(append([]string{"never answers"}, t.Odd...), ": ")
	case fault != "":
		fault = fmt.Sprintf("fails after %d answers: %s", t.Answers, fault)
	case 2*t.Remarks > t.Answers:
		fault = fmt.Sprintf("answers nonsense: %d faults in %d answers, such as %s", t.Remarks, t.Answers, t.Example)
	default:
		return nil
	}
	return &Fault{Why: fault, Words: words.String()}
}
