// Package ladder rates any number of agents by a round robin, which this process plays: every two agents meet.
//
// It plays units. In a game of two seats, a unit is a pair of games between two players, with the same seed and the
// seats swapped; in a game of one seat, it is a game of one player alone, and two players are compared by their scores
// with the same seed. Units come round by round, so that a ladder that is stopped has played every two players
// equally often, give or take one unit.
//
// Every finished unit is a line of the journal. A ladder that was stopped, also by kill -9, continues after the last
// one, and ends with the same result for any number of workers.
package ladder

import (
	"context"
	"fmt"

	"blockyard/agents/match"
	"blockyard/env"
)

// A Ladder is a round robin. Units, Workers and Progress may change when it goes on, the other settings must not.
type Ladder struct {
	Rules   *env.Game
	Players []match.Player // at least two
	Units   int            // of every two players, or of every player in a game of one seat; at least 1
	Seed    uint64         // of the whole ladder
	Cap     int            // in a game of one seat: score at which a game is stopped; 0 for no limit
	Steps   int            // in a game of one seat: actions after which a game is stopped; 0 for no limit
	Workers int            // units played at once; below 1 counts as 1

	Progress func(games int, text string) // called after every unit with the number of games so far; may be nil

	played []Unit
}

// A Unit is a finished unit: a line of the journal.
type Unit struct {
	A      int `json:"a"`           // player
	B      int `json:"b,omitempty"` // the other player; never 0 in a game of two seats
	Round  int `json:"round"`
	Wins   int `json:"wins,omitempty"` // of A
	Draws  int `json:"draws,omitempty"`
	Losses int `json:"losses,omitempty"`
	Score  int `json:"score,omitempty"` // of A in a game of one seat
}

// alone reports whether the game has one seat.
func (l *Ladder) alone() bool { return l.Rules.MaxSeats == 1 }

// check returns an error if there is no such ladder.
func (l *Ladder) check() error {
	switch {
	case len(l.Players) < 2:
		return fmt.Errorf("a ladder of %d players, want at least two", len(l.Players))
	case l.Units < 1:
		return fmt.Errorf("%d units for every two players, want at least 1", l.Units)
	case l.Rules.MinSeats > 2:
		return fmt.Errorf("%s has no game of two seats", l.Rules.Name)
	case !l.alone() && (l.Cap != 0 || l.Steps != 0):
		return fmt.Errorf("cap and steps are for games of one seat, %s has more", l.Rules.Name)
	}
	return nil
}

// round lists the units of a round, without results.
func (l *Ladder) round() (all []Unit) {
	for a := range l.Players {
		if l.alone() {
			all = append(all, Unit{A: a})
			continue
		}
		for b := a + 1; b < len(l.Players); b++ {
			all = append(all, Unit{A: a, B: b})
		}
	}
	return all
}

// unit returns the unit at a position of the order, without a result.
func (l *Ladder) unit(at int) Unit {
	round := l.round()
	u := round[at%len(round)]
	u.Round = at / len(round)
	return u
}

// each is the number of units of a round.
func (l *Ladder) each() int { return len(l.round()) }

// Expected is the number of games of the whole ladder.
func (l *Ladder) Expected() int { return l.games(l.Units * l.each()) }

// games is the number of games of some units.
func (l *Ladder) games(units int) int {
	if l.alone() {
		return units
	}
	return 2 * units
}

// Play plays the units that the journal lacks and adds them to it. If ctx ends, it returns no error.
func (l *Ladder) Play(ctx context.Context, j *Journal) error {
	l.played = j.units
	first := len(l.played)
	l.show()
	work := func(ctx context.Context, i int) (Unit, error) { return l.play(ctx, l.unit(first+i)) }
	for u, err := range match.InOrder(ctx, l.Workers, max(0, l.Units*l.each()-first), work) {
		if err == nil {
			err = j.add(u)
		}
		if err != nil {
			return err
		}
		l.played = j.units
		l.show()
	}
	return nil
}

// play plays a unit.
func (l *Ladder) play(ctx context.Context, u Unit) (Unit, error) {
	m := match.Match{Rules: l.Rules, A: l.Players[u.A], Units: 1, Seed: env.Derive(l.Seed, uint64(u.Round))}
	if l.alone() {
		m.Cap, m.Steps = l.Cap, l.Steps
		r, err := m.SinglePlayer(ctx)
		if err == nil && r.Games == 0 {
			err = ctx.Err()
		}
		if err == nil {
			u.Score = r.Runs[0][0].Score
		}
		return u, err
	}
	m.B = l.Players[u.B]
	r, err := m.TwoPlayer(ctx)
	if err == nil && r.Games < 2 {
		err = ctx.Err()
	}
	u.Wins, u.Draws, u.Losses = r.Wins, r.Draws, r.Losses
	return u, err
}

// show calls Progress.
func (l *Ladder) show() {
	if l.Progress != nil {
		l.Progress(l.games(len(l.played)), fmt.Sprintf("round %d of %d", min(len(l.played)/l.each()+1, l.Units), l.Units))
	}
}
