package submit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/blockingbot"
	"blockyard/agents/contest/trial"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env/blocking"
)

// The compiled bot plays whole games as the same search and evaluator do in this process: in 1,000 positions if
// BLOCKYARD_LONG is set.
func TestBlockingBotPlaysAsItsAgent(t *testing.T) {
	shipped, err := blockingbot.Entry.LoadNet(blocking.Game, "")
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		net  *mlp.Net
		ply  int
	}{{"net", shipped, 2}, {"three plies", nil, 3}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src, net := source(t, Bot{Game: "blocking", Net: c.net, Ply: c.ply})
			argv := compiled(t, withAmpleTime(t, src))
			var e search.Evaluator = blockingbot.NewHand()
			if net != nil {
				learned := blockingbot.NewLearned(net)
				e = learned
			}
			agent, err := search.New(blocking.Game, e, search.Options{Ply: c.ply})
			require.NoError(t, err)
			same := func(a trial.Answer) {
				view := *a.State.(*blocking.State)
				view.PlayOut = true // as in the bot
				want, err := agent.Act(t.Context(), &view, a.Seat)
				require.NoError(t, err)
				text := blocking.Game.Text
				require.Equal(t, text(want), text(a.Action), "seat %d of %d", a.Seat, view.Seats)
			}
			answers := 0
			for seed := uint64(20); answers < positions(40); seed += 100 {
				got, err := blockingbot.Replay(seed, ample).Play(t.Context(), argv, same)
				require.NoError(t, err)
				require.Equal(t, 9, got.Logs)
				answers += got.Answers
			}
			t.Logf("%d positions", answers)
		})
	}
}

// withAmpleTime gives a bot more time for an answer than the contest does, which is a constant of the bot.
func withAmpleTime(t *testing.T, src []byte) []byte {
	out := strings.NewReplacer("FirstTime = time.Second\n", "FirstTime = time.Hour\n",
		"LaterTime = 200 * time.Millisecond\n", "LaterTime = time.Hour\n").Replace(string(src))
	require.Equal(t, 2, strings.Count(out, "= time.Hour\n"))
	return []byte(out)
}

func TestReplayRefusesABlockingBotThatWritesNonsense(t *testing.T) {
	argv := []string{"sh", "-c", "while read -r x; do echo nonsense; done"}
	_, err := blockingbot.Replay(20, ample).Play(t.Context(), argv, nil)
	require.ErrorContains(t, err, "replay game 1: seat 0 of 2: eliminated: illegal")
}
