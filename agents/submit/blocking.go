package submit

import (
	"context"
	"fmt"
	"time"

	"blockyard/agents/blockingbot"
	"blockyard/agents/contest"
	"blockyard/env"
	"blockyard/env/blocking"
)

// blockingSlack is what a busy machine may add to the time of an answer, because the games test the protocol.
const blockingSlack = 3 * time.Second

// blockingScript has the bot play whole games with two, three and four seats, once on every seat, against
// opponents that play the first legal placement. The contest's limits on time apply, plus slack.
func blockingScript(slack time.Duration) script {
	return func() (games []game, err error) {
		for seats := 2; seats <= 4; seats++ {
			for own := range seats {
				games = append(games, func(ctx context.Context, t *trial) error {
					return playBlocking(ctx, t, seats, own, slack)
				})
			}
		}
		return games, nil
	}
}

func playBlocking(ctx context.Context, t *trial, seats, own int, slack time.Duration) error {
	s := blocking.New(seats, 0)
	s.Reset(uint64(10*seats + own))
	ref := &blockingbot.Referee{State: s, Watch: func(s *blocking.State, seat int, a env.Action) {
		if seat == own {
			t.answered(s, seat, a)
		}
	}}
	host := ref.Host(contest.FixedPerMove(blockingbot.FirstTime, blockingbot.LaterTime, slack), nil)
	err := t.host(ctx, host, own, func([]string) (string, error) { return s.List(int(s.Turn))[0].String(), nil })
	if fault := ref.Outcome().Faults[own]; err == nil && fault != "" {
		return fmt.Errorf("seat %d of %d: eliminated: %s", own, seats, fault)
	}
	return err
}
