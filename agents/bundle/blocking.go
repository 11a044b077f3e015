package bundle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blockyard/agents/blockingbot"
	"blockyard/agents/blockingbot/referee"
	"blockyard/agents/contest"
	"blockyard/env/blocking"
)

// replayBlocking lets the bot started by argv play whole games with two, three and four
// seats against players who answer the first listed placement, with the contest's limits.
// Where other contests left logs, these games of fixed letters stand for them.
func replayBlocking(ctx context.Context, argv ...string) (r Replayed, err error) {
	total := time.Duration(0)
	for seats := 2; seats <= 4; seats++ {
		for own := range seats {
			t, err := playBlocking(ctx, argv, seats, own)
			if err != nil {
				return r, fmt.Errorf("game for %d, seat %d: %w", seats, own, err)
			}
			r.Logs++
			r.Answers += t.Answers
			r.Longest = max(r.Longest, t.Longest)
			total += t.Used
		}
	}
	if r.Answers > 0 {
		r.Mean = total / time.Duration(r.Answers)
	}
	return r, nil
}

func playBlocking(ctx context.Context, argv []string, seats, own int) (t referee.Tally, err error) {
	s := blocking.New(seats, 0)
	s.Reset(uint64(10*seats + own))
	complaint := ""
	g := referee.Game{
		State:  s,
		Limits: referee.Limits{First: blockingbot.FirstTime, Later: blockingbot.LaterTime, Tolerance: slack},
		Start: func(seat int) (contest.Asker, error) {
			if seat != own {
				return firstListed{s}, nil
			}
			return contest.Start(argv, func(line string) { complaint = line })
		},
	}
	tallies, err := g.Play(ctx)
	switch t = tallies[own]; {
	case err != nil:
		return t, err
	case t.Fault != "":
		return t, errors.New("eliminated: " + t.Fault)
	case complaint != "":
		return t, errors.New("the bot complains: " + complaint)
	}
	return t, nil
}

// slack is what a loaded machine may add to an answer: the games are for the protocol.
const slack = 3 * time.Second

// firstListed is a player in this process that answers the first listed placement.
type firstListed struct{ s *blocking.State }

func (p firstListed) Ask(context.Context, []string, time.Duration) (string, bool, time.Duration, error) {
	return p.s.List(int(p.s.Turn))[0].String(), false, 0, nil
}

func (firstListed) Close() error { return nil }
