package submit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/bots/tetrisduelbot"
	"blockyard/agents/contest/trial"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env/tetrisduel"
)

// The compiled bot plays whole games as the same search and evaluator do in this process: with the shipped network
// in 300 positions, in 1,000 if BLOCKYARD_LONG is set.
func TestDuelBotPlaysAsItsAgent(t *testing.T) {
	shipped, err := tetrisduelbot.Entry.LoadNet(tetrisduel.Game, "")
	require.NoError(t, err)
	for _, c := range []struct {
		name      string
		net       *mlp.Net
		ply       int
		positions int
	}{{"baseline", nil, 2, 20}, {"net", shipped, 2, positions(300)}, {"four plies", toybot.RandomNet(t, 1, tetrisduelbot.Len, 32, 1), 4, 20}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src, net := source(t, Bot{Game: "tetrisduel", Net: c.net, Ply: c.ply})
			var e search.Evaluator = tetrisduelbot.NewHand()
			if net != nil {
				learned := tetrisduelbot.NewLearned(net)
				e = learned
			}
			agent, err := search.New(tetrisduel.Game, e, search.Options{Ply: c.ply})
			require.NoError(t, err)
			argv := compiled(t, src)
			same := func(a trial.Answer) {
				view := *a.State.(*tetrisduel.State)
				want, err := agent.Act(t.Context(), &view, a.Seat)
				require.NoError(t, err)
				require.Equal(t, tetrisduel.Game.Text(want), tetrisduel.Game.Text(a.Action), "half-turn %d", view.Turn)
			}
			answers := 0
			for seed := uint64(1); answers < c.positions; seed += 2 {
				got, err := tetrisduelbot.Replay(seed, ample).Play(t.Context(), argv, same)
				require.NoError(t, err)
				require.Equal(t, 2, got.Logs)
				answers += got.Answers
			}
		})
	}
}

func TestReplayRefusesADuelBotThatWritesNonsense(t *testing.T) {
	for script, want := range map[string]string{
		"while read -r w x; do case $w in blocks) echo ready;; moves) echo 0 0 0;; esac; done": "illegal at half-turn 1",
		"exit 0": "missing",
	} {
		_, err := tetrisduelbot.Replay(1, tetrisduelbot.DefaultTime).Play(t.Context(), []string{"sh", "-c", script}, nil)
		require.ErrorContains(t, err, "game 1: lost by "+want)
	}
}
