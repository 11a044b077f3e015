package tournament

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blockyard/agents/contest"
	"blockyard/agents/match/series"
	"blockyard/datasets/record"
	"blockyard/env"
)

// Lines is a contest between programs that talk in lines.
type Lines struct {
	Rules  *env.Game
	Rival  contest.Program // plays against an entrant in its test: any program that obeys the rules
	Losses []string        // reasons for which the loser of a game is to blame, such as "illegal"
	Dir    string          // the tournament's folder
	Setup  *contest.Setup
}

var _ Contest = (*Lines)(nil)

// Test plays a game against Rival.
func (l *Lines) Test(ctx context.Context, e *Entrant) error {
	m := series.Match{Rules: l.Rules, Seed: 1, Setup: l.Setup, Seats: []contest.Player{e.player()}}
	for len(m.Seats) < l.Rules.MinSeats {
		m.Seats = append(m.Seats, contest.Player{Program: l.Rival, Name: "first", Agent: "first"})
	}
	words := &contest.Tail{}
	m.Errors = words
	p, _, err := m.Play(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &Fault{Why: "does not start: " + err.Error()}
	}
	t := p.Tallies[0]
	fault := l.faults(p)[0]
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

// Play plays a game.
func (l *Lines) Play(ctx context.Context, g Game, seats []*Entrant) (r Result, rec *record.Record, err error) {
	m := series.Match{Rules: l.Rules, Seed: g.Seed, Setup: l.Setup}
	for _, e := range seats {
		m.Seats = append(m.Seats, e.player())
	}
	if m.Log, err = os.Create(filepath.Join(l.Dir, LogFile(g.Number))); err != nil {
		return r, nil, err
	}
	p, rec, err := m.Play(ctx)
	if err != nil {
		return r, nil, err
	}
	r = Result{Points: p.Points, Ranks: p.Outcome.Ranking(len(seats)), Reason: p.Reason, Faults: l.faults(p)}
	r.Rounds, r.Names, r.Odd = p.Turns, p.Names, make([][]string, len(seats))
	for seat, t := range p.Tallies {
		r.Odd[seat] = t.Habits()
		r.UsedMS, r.MostMS = append(r.UsedMS, t.Used.Milliseconds()), append(r.MostMS, t.Longest.Milliseconds())
	}
	return r, rec, nil
}

// faults returns what each entrant did wrong; "" for nothing.
func (l *Lines) faults(p series.Played) []string {
	out := make([]string, len(p.Tallies))
	for seat, t := range p.Tallies {
		switch {
		case seat < len(p.Faults) && p.Faults[seat] != "":
			out[seat] = p.Faults[seat]
		case t.Limits.Timeouts > 0 && t.Bank.Timeouts >= t.Limits.Timeouts:
			out[seat] = "too many time-outs"
		case p.Winner != seat && slices.Contains(l.Losses, p.Reason):
			out[seat] = p.Reason
		case t.Gone && p.Ranks == nil && !slices.Contains(l.Losses, p.Reason):
			out[seat] = "ended early"
		}
	}
	return out
}
