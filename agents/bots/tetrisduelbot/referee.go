package tetrisduelbot

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/trial"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// Reasons for the end of a game that are not in the rules of the game itself (rules §7).
const (
	Exception = "exception" // a bot's process ended or closed its output
	Timeout   = "timeout"   // an answer came after the budget was spent, or not at all
	Missing   = "missing"   // a bot could not be started or was not ready in time
)

// faults are the contest's names of the faults that a host finds, with a remark about each. A bot with a fault loses.
var faults = map[contest.Fault]struct{ reason, remark string }{
	contest.Late:    {Timeout, "its time is over"},
	contest.Gone:    {Exception, "the bot has ended or closed its output"},
	contest.TooLong: {tetrisduel.Illegal.String(), notListed},
}

// notReady are the remarks about a bot that does not get ready.
var notReady = map[contest.Fault]string{
	contest.Missing: "the bot could not be started",
	contest.Late:    "not ready: " + contest.ErrLate.Error(),
	contest.Gone:    "not ready: " + contest.ErrGone.Error(),
}

const notListed = "this is not a placement of the list"

// A Referee is the contest.Referee of one game (rules §8). The time control must be contest.TotalBudget(Time).
type Referee struct {
	State *tetrisduel.State // after Reset
	Time  time.Duration     // budget of each bot
	Ready time.Duration     // to get ready in; 0 means ReadyTime

	NoList    bool // requests leave the list of placements out
	TieByTime bool // equal points: the bot that used less time wins

	// Watch gets every action before it is played in State, env.None for a fault. It may be nil.
	Watch func(acting env.Seats, m env.Moves)

	phase  phase
	ready  [2]bool
	winner int
	reason string
	tie    string // what decided between equal scores
	used   [2]time.Duration
}

// A phase is a part of a game as the referee conducts it.
type phase int

const (
	starting phase = iota
	greeting
	playing
	telling // both bots the result
)

// Names implements contest.Referee: player1 moves first.
func (r *Referee) Names() []string { return []string{"player1", "player2"} }

// Round is the greeting, a half-turn, or the last round, in which both bots are told the result.
func (r *Referee) Round() (title string, seats []int) {
	switch {
	case r.phase == starting:
		r.phase, r.winner = greeting, contest.Nobody
		return "", []int{0, 1}
	case r.phase == telling:
		return "", nil
	case r.reason != "":
		r.phase = telling
		if r.winner == contest.Nobody {
			return fmt.Sprintf("over by %s: nobody wins", r.reason), []int{0, 1}
		}
		return fmt.Sprintf("over by %s: %s wins", r.reason, r.Names()[r.winner]), []int{0, 1}
	}
	r.phase = playing
	return fmt.Sprintf("Turn %d, half-turn %d", r.State.Turn-1, r.State.Turn), []int{r.State.Mover()}
}

// Request implements contest.Referee: the start of the game, a half-turn with left in the bank, or the result.
func (r *Referee) Request(seat int, left time.Duration) contest.Request {
	switch r.phase {
	case greeting:
		return contest.Request{Lines: Greeting(r.State, seat, r.Time), Limit: cmp.Or(r.Ready, ReadyTime)}
	case telling:
		return contest.Request{Lines: []string{End(r.State, r.winner, r.reason)}, Last: true}
	}
	return contest.Request{Lines: Request(r.State, left, !r.NoList)}
}

// Answer implements contest.Referee. A fault loses the game (rules §7), and so does an answer that is not legal.
func (r *Referee) Answer(seat int, reply contest.Reply) (remarks []string, out bool) {
	if r.phase == greeting {
		if text, bad := notReady[reply.Fault]; bad {
			return []string{text}, false
		}
		if r.ready[seat] = Ready(reply.Line); !r.ready[seat] {
			return []string{"this does not say that it is ready"}, false
		}
		return nil, false
	}
	r.used[seat] += reply.Elapsed
	fault, bad := faults[reply.Fault]
	a := env.None
	if !bad {
		var legal bool
		if a, legal = Judge(r.State, reply.Line); !legal {
			fault, bad = faults[contest.TooLong], true
		}
	}
	m := env.Alone(seat, a)
	if r.Watch != nil {
		r.Watch(r.State.Acting(), m)
	}
	r.State.Step(m)
	if bad {
		r.winner, r.reason = 1-seat, fault.reason
		return []string{fault.remark}, false
	}
	if r.State.Acting() == 0 {
		r.finish()
	}
	return nil, false
}

func (r *Referee) finish() {
	r.winner, r.reason = int(r.State.Winner), r.State.Reason.String()
	if r.State.Reason == tetrisduel.Limit && r.winner == contest.Nobody && r.TieByTime {
		if d := cmp.Compare(r.used[0], r.used[1]); d != 0 {
			r.winner = (1 + d) / 2
			r.tie = "less time used"
		}
	}
}

// Close implements contest.Referee: a game in which a bot is not ready is over.
func (r *Referee) Close() []contest.Comment {
	if r.phase != greeting || r.ready == [2]bool{true, true} {
		return nil
	}
	r.reason = Missing
	for seat, ready := range r.ready {
		if ready {
			r.winner = seat
		}
	}
	return nil
}

// Outcome implements contest.Referee, with the points of both seats and why the game ended.
func (r *Referee) Outcome() contest.Outcome {
	out := contest.Outcome{Winner: r.winner, Reason: r.reason, Points: []int{r.State.Score(0), r.State.Score(1)}}
	out.Meta = map[string]string{"reason": r.reason, "winner": fmt.Sprint(r.winner + 1)}
	if r.tie != "" {
		out.Meta["tie break"] = r.tie
	}
	return out
}

// Replay returns the test of a bot: two whole games against the baseline, one on each seat, one with and one without
// the list of legal placements in the requests. The seeds are seed and seed+1; budget is the bot's time for each.
func Replay(seed uint64, budget time.Duration) trial.Script {
	return func() (games []trial.Game, err error) {
		for seat := range 2 {
			games = append(games, func(ctx context.Context, t *trial.Trial) error {
				return replayGame(ctx, t, seed, seat, budget)
			})
		}
		return games, nil
	}
}

func replayGame(ctx context.Context, t *trial.Trial, seed uint64, seat int, budget time.Duration) error {
	ref := &Referee{State: new(tetrisduel.State), Time: budget, NoList: seat == 1}
	ref.State.Reset(seed + uint64(seat))
	ref.Watch = func(acting env.Seats, m env.Moves) {
		if acting.Has(seat) && m[seat] != env.None {
			t.Answered(ref.State, seat, m[seat])
		}
	}
	baseline := search.NewGreedy(tetrisduel.Game, NewHand())
	host := contest.Host{Referee: ref, Limits: contest.TotalBudget(budget)}
	err := t.Host(ctx, host, seat, func(lines []string) (string, error) {
		if !strings.HasPrefix(lines[0], "turn ") {
			return "ready", nil
		}
		s := *ref.State
		a, err := baseline.Act(ctx, &s, s.Mover())
		return tetrisduel.Text(a), err
	})
	out := ref.Outcome()
	if err == nil && out.Winner != seat && out.Reason != "limit" && out.Reason != "overflow" {
		return fmt.Errorf("lost by %s at half-turn %d", out.Reason, ref.State.Turn)
	}
	return err
}
