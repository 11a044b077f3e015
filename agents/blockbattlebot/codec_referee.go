package blockbattlebot

import (
	"fmt"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A Referee is the host's side of one game, an agents/contest.Referee.
type Referee struct {
	Dialect Dialect
	State   *blockbattle.State
	// Deal, if set, is called before a round is closed, to force its draws.
	Deal func(s *blockbattle.State)
	// Watch, if set, is called with the position and the joint move of every round, before
	// it is played: the answers as actions.
	Watch func(s *blockbattle.State, m env.Moves)

	lands  [2]blockbattle.Landing
	report blockbattle.Report
}

var _ contest.Referee = (*Referee)(nil)

// Names implements contest.Referee.
func (r *Referee) Names() []string { return r.Dialect.Names() }

// Settings implements contest.Referee.
func (r *Referee) Settings(seat int, l contest.Limits) []string { return r.Dialect.settings(seat, l) }

// Round implements contest.Referee.
func (r *Referee) Round() (title string, more bool) {
	if !r.State.Over {
		return fmt.Sprintf("Round %d", r.State.Round), true
	}
	title = "Game over:"
	for _, l := range r.report.Losses {
		title += fmt.Sprintf(" %s lost by %s,", r.Names()[l.Seat], l.Phase)
	}
	if w := r.State.Winner; w != blockbattle.Nobody {
		return title + fmt.Sprintf(" %s wins", r.Names()[w]), false
	}
	return title + " a draw", false
}

// Asked implements contest.Referee: player 1 is asked first, but neither learns the
// other's answer.
func (r *Referee) Asked() []int { return []int{0, 1} }

// Request implements contest.Referee.
func (r *Referee) Request(seat int, bank time.Duration) []string {
	return r.Dialect.request(r.State, seat, bank)
}

// Answer implements contest.Referee.
func (r *Referee) Answer(seat int, line string, ok bool) []string {
	if !ok {
		r.lands[seat], _ = blockbattle.Execute(&r.State.Sides[seat], int(r.State.Piece), nil, r.State.Rules)
		return nil
	}
	a := readAnswer(r.Dialect, r.State, seat, line)
	r.lands[seat] = a.land
	return a.remarks
}

// Close implements contest.Referee.
func (r *Referee) Close() {
	if r.Watch != nil {
		m := env.NoMoves
		for seat, land := range r.lands {
			m[seat] = blockbattle.ActionOf(land)
		}
		r.Watch(r.State, m)
	}
	if r.Deal != nil {
		r.Deal(r.State)
	}
	r.report.Losses = r.report.Losses[:0]
	r.State.Play(&r.lands, &r.report)
}
