package blockingbot

import (
	"context"
	"fmt"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/replay"
	"blockyard/env"
	"blockyard/env/blocking"
)

// ReplaySlack is what a busy machine may add to the time of an answer, because a replay tests the protocol.
const ReplaySlack = 3 * time.Second

// Replay has a bot play whole games with two, three and four seats, once on every seat, against opponents that
// play the first legal placement. The contest's limits on time apply, plus slack.
func Replay(slack time.Duration) replay.Script {
	return func() (games []replay.Game, err error) {
		for seats := 2; seats <= 4; seats++ {
			for own := range seats {
				games = append(games, func(ctx context.Context, t *replay.Trial) error {
					return replayGame(ctx, t, seats, own, slack)
				})
			}
		}
		return games, nil
	}
}

func replayGame(ctx context.Context, t *replay.Trial, seats, own int, slack time.Duration) error {
	s := blocking.New(seats, 0)
	s.Reset(uint64(10*seats + own))
	ref := &Referee{State: s, Watch: func(s *blocking.State, seat int, a env.Action) {
		if seat == own {
			t.Answered(s, seat, a)
		}
	}}
	host := ref.Host(contest.FixedPerMove(FirstTime, LaterTime, slack), nil)
	err := t.Host(ctx, host, own, func([]string) (string, error) { return s.List(int(s.Turn))[0].String(), nil })
	if fault := ref.Outcome().Faults[own]; err == nil && fault != "" {
		return fmt.Errorf("seat %d of %d: eliminated: %s", own, seats, fault)
	}
	return err
}
