package tetrisduelbot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/contest/replay"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// Replay has a bot play two whole games against the baseline, one on each seat, one with and one
// without the list of legal placements in the requests. budget is the bot's time for a game.
func Replay(budget time.Duration) replay.Script {
	return func() (games []replay.Game, err error) {
		for seat := range 2 {
			games = append(games, func(ctx context.Context, t *replay.Trial) error {
				return replayGame(ctx, t, seat, budget)
			})
		}
		return games, nil
	}
}

func replayGame(ctx context.Context, t *replay.Trial, seat int, budget time.Duration) error {
	ref := &Referee{State: new(tetrisduel.State), Time: budget, NoList: seat == 1}
	ref.State.Reset(uint64(1 + seat))
	ref.Watch = func(s *tetrisduel.State, a env.Action) {
		if s.Mover() == seat && a != env.None {
			t.Answered(s, seat, a)
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
		return fmt.Errorf("lost by %s at half-turn %d", out.Reason, out.Rounds)
	}
	return err
}
