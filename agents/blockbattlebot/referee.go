package blockbattlebot

import (
	"fmt"
	"time"

	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A Referee conducts one game of Block Battle, as agents/contest.Referee. A bot that is late
// or answers nonsense plays on; its piece drops where it is.
type Referee struct {
	Dialect Dialect
	State   *blockbattle.State
	Limits  contest.Limits // which the bots are told
	// Deal, if set, is called before a round is closed, to force its draws.
	Deal func(s *blockbattle.State)
	// Watch, if set, is called with the position and the joint move of every round, before
	// it is played: the answers as actions.
	Watch func(s *blockbattle.State, m env.Moves)

	greeted [2]bool
	lands   [2]blockbattle.Landing
	report  blockbattle.Report
}

var _ contest.Referee = (*Referee)(nil)

// Names implements contest.Referee.
func (r *Referee) Names() []string { return r.Dialect.Names() }

// Round implements contest.Referee: player 1 is asked first, but neither learns the other's
// answer.
func (r *Referee) Round() (title string, seats []int) {
	if !r.State.Over {
		return fmt.Sprintf("Round %d", r.State.Round), []int{0, 1}
	}
	title = "Game over:"
	for _, l := range r.report.Losses {
		title += fmt.Sprintf(" %s lost by %s,", r.Names()[l.Seat], l.Phase)
	}
	if w := r.State.Winner; w != blockbattle.Nobody {
		return title + fmt.Sprintf(" %s wins", r.Names()[w]), nil
	}
	return title + " a draw", nil
}

// Request implements contest.Referee; the first one begins with the settings.
func (r *Referee) Request(seat int, left time.Duration) contest.Request {
	lines := r.Dialect.request(r.State, seat, left)
	if !r.greeted[seat] {
		r.greeted[seat] = true
		lines = append(r.Dialect.settings(seat, r.Limits), lines...)
	}
	return contest.Request{Lines: lines}
}

// Answer implements contest.Referee.
func (r *Referee) Answer(seat int, reply contest.Reply) (remarks []string, out bool) {
	switch reply.Fault {
	case contest.Late:
		remarks = []string{
			fmt.Sprintf("no answer within %d ms: time-out %d", reply.Limit.Milliseconds(), reply.Bank.Timeouts),
		}
		if reply.Ended {
			remarks = append(remarks, "no more time-outs are allowed: the bot is ended")
		}
	case contest.Gone:
		remarks, out = []string{"the bot has ended or closed its output: it has no more moves"}, true
	case contest.TooLong:
		remarks = []string{fmt.Sprintf("the answer is longer than %d bytes: the rest is not read", contest.MaxLine)}
		fallthrough
	case contest.NoFault:
		a := readAnswer(r.Dialect, r.State, seat, reply.Line)
		r.lands[seat] = a.land
		return append(remarks, a.remarks...), false
	}
	r.lands[seat], _ = blockbattle.Execute(&r.State.Sides[seat], int(r.State.Piece), nil, r.State.Rules)
	return remarks, out
}

// Close implements contest.Referee.
func (r *Referee) Close() []contest.Comment {
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
	return nil
}

// Outcome implements contest.Referee.
func (r *Referee) Outcome() contest.Outcome {
	return contest.Outcome{
		Winner: int(r.State.Winner), Rounds: int(r.State.Round), Points: []int{r.State.Score(0), r.State.Score(1)},
	}
}
