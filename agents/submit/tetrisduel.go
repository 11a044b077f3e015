package submit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"blockyard/agents/contest"
	"blockyard/agents/search"
	"blockyard/agents/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// duelScript has the bot play two whole games against the baseline, one on each seat, one with and one
// without the list of legal placements in the requests. budget is the bot's time for a game.
func duelScript(budget time.Duration) script {
	return func() (games []game, err error) {
		for seat := range 2 {
			games = append(games, func(ctx context.Context, t *trial) error { return playDuel(ctx, t, seat, budget) })
		}
		return games, nil
	}
}

func playDuel(ctx context.Context, t *trial, seat int, budget time.Duration) error {
	ref := &tetrisduelbot.Referee{State: new(tetrisduel.State), Time: budget, NoList: seat == 1}
	ref.State.Reset(uint64(1 + seat))
	ref.Watch = func(s *tetrisduel.State, a env.Action) {
		if s.Mover() == seat && a != env.None {
			t.answered(s, seat, a)
		}
	}
	baseline := search.NewGreedy(tetrisduel.Game, tetrisduelbot.NewHand())
	host := contest.Host{Referee: ref, Limits: contest.TotalBudget(budget)}
	err := t.host(ctx, host, seat, func(lines []string) (string, error) {
		if !strings.HasPrefix(lines[0], "turn ") {
			return "ready", nil
		}
		s := *ref.State
		a, err := baseline.Act(ctx, &s, s.Mover())
		return tetrisduel.Game.Text(a), err
	})
	out := ref.Outcome()
	if err == nil && out.Winner != seat && out.Reason != "limit" && out.Reason != "overflow" {
		return fmt.Errorf("lost by %s at half-turn %d", out.Reason, out.Rounds)
	}
	return err
}
