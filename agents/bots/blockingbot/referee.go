package blockingbot

import (
	"context"
	"fmt"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/trial"
	"blockyard/env"
	"blockyard/env/blocking"
)

// The faults a bot is eliminated for (rules §7.2).
const (
	Illegal = "illegal" // an answer that is no legal placement, or cannot be read
	Timeout = "timeout" // no answer in time
	Exit    = "exit"    // its process has ended or closed its output
	Missing = "missing" // it could not be started
)

// faults is what the contest calls the host's faults.
var faults = map[contest.Fault]string{
	contest.Missing: Missing, contest.Late: Timeout, contest.Gone: Exit, contest.TooLong: Illegal,
}

// A Referee conducts one game as contest.Referee (rules §8). A bot's first fault eliminates it.
type Referee struct {
	State *blocking.State // after Reset
	// Watch gets every action before it is played in State, env.None for a fault. It may be nil.
	Watch func(acting env.Seats, m env.Moves)

	turns   int
	greeted [env.MaxSeats]bool
	others  [env.MaxSeats][]string // moves that a seat has not been sent yet
	faults  [env.MaxSeats]string
	action  env.Action // of the turn
}

// Host returns a host that conducts one game with this referee and starts each bot, by start, when it is first asked.
func (r *Referee) Host(l contest.Limits, start func(seat int) (contest.Asker, error)) contest.Host {
	return contest.Host{Referee: r, Limits: l, Start: start, StartOnTurn: true}
}

// Names implements contest.Referee: player0, player1 and so on, by seat.
func (r *Referee) Names() []string {
	names := make([]string, r.State.Seats)
	for seat := range names {
		names[seat] = fmt.Sprintf("player%d", seat)
	}
	return names
}

// Round implements contest.Referee: a round is one seat's turn, counted from 0 as records do.
func (r *Referee) Round() (title string, seats []int) {
	if r.State.Reason != blocking.Running {
		return "over: " + r.State.Reason.String(), nil
	}
	r.turns++
	return fmt.Sprintf("Turn %d", r.turns-1), []int{int(r.State.Turn)}
}

// Request implements contest.Referee. The first request of a seat begins with the start of the game (rules §8.1).
func (r *Referee) Request(seat int, _ time.Duration) contest.Request {
	lines := Request(r.State, seat, r.others[seat])
	r.others[seat] = nil
	if !r.greeted[seat] {
		r.greeted[seat] = true
		lines = append(Greeting(r.State, seat), lines...)
	}
	return contest.Request{Lines: lines}
}

// Answer implements contest.Referee. Every fault eliminates the seat (rules §7.2); the others are told of a legal
// answer.
func (r *Referee) Answer(seat int, reply contest.Reply) (remarks []string, out bool) {
	fault := faults[reply.Fault]
	r.action = env.None
	if fault == "" {
		var legal bool
		if r.action, legal = r.State.Judge(seat, reply.Line); !legal {
			fault = Illegal
		}
	}
	if fault != "" {
		r.faults[seat] = fault
		return []string{"eliminated: " + fault}, true
	}
	for i := range r.others {
		if i != seat {
			r.others[i] = append(r.others[i], Move(seat, reply.Line))
		}
	}
	return nil, false
}

// Close implements contest.Referee: it plays the turn and remarks which seats have no placement left.
func (r *Referee) Close() (comments []contest.Comment) {
	s := r.State
	m := env.Alone(int(s.Turn), r.action)
	if r.Watch != nil {
		r.Watch(s.Acting(), m)
	}
	before := s.Stuck
	s.Step(m)
	for set := s.Stuck &^ before; set != 0; set = set.Rest() {
		comments = append(comments, contest.Comment{
			Seat: set.First(), Text: "no placement is left: it is not asked any more",
		})
	}
	return comments
}

// Outcome implements contest.Referee, with the points, rank and fault of each seat.
func (r *Referee) Outcome() contest.Outcome {
	s := r.State
	out := contest.Outcome{Winner: contest.Nobody, Reason: s.Reason.String()}
	out.Meta = map[string]string{"reason": out.Reason}
	for seat := 0; seat < int(s.Seats); seat++ {
		out.Points = append(out.Points, int(s.Points[seat]))
		out.Ranks = append(out.Ranks, s.Rank(seat))
		out.Faults = append(out.Faults, r.faults[seat])
	}
	return out
}

// ReplaySlack is what a busy machine may add to the time of an answer, because a replay tests the protocol.
const ReplaySlack = 3 * time.Second

// Replay has a bot play whole games with two, three and four seats, once on every seat, against opponents that
// play the first legal placement. The games have seeds seed to seed+23. The contest's limits on time apply, plus slack.
func Replay(seed uint64, slack time.Duration) trial.Script {
	return func() (games []trial.Game, err error) {
		for seats := 2; seats <= 4; seats++ {
			for own := range seats {
				games = append(games, func(ctx context.Context, t *trial.Trial) error {
					return replayGame(ctx, t, seed+uint64(10*(seats-2)+own), seats, own, slack)
				})
			}
		}
		return games, nil
	}
}

func replayGame(ctx context.Context, t *trial.Trial, seed uint64, seats, own int, slack time.Duration) error {
	s := blocking.New(seats, 0)
	s.Reset(seed)
	ref := &Referee{State: s, Watch: func(acting env.Seats, m env.Moves) {
		if acting.Has(own) {
			t.Answered(s, own, m[own])
		}
	}}
	host := ref.Host(contest.FixedPerMove(FirstTime, LaterTime, slack), nil)
	err := t.Host(ctx, host, own, func([]string) (string, error) { return s.List(int(s.Turn))[0].String(), nil })
	if fault := ref.Outcome().Faults[own]; err == nil && fault != "" {
		return fmt.Errorf("seat %d of %d: eliminated: %s", own, seats, fault)
	}
	return err
}
