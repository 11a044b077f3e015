package bundle

import (
	"context"
	"math/rand"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/agents/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// duelNet is a net of random weights, of the sizes that are trained.
func duelNet(t *testing.T) *mlp.Net {
	t.Helper()
	r := rand.New(rand.NewSource(2))
	var layers []mlp.Layer
	in := tetrisduelbot.Len
	for _, out := range []int{32, 1} {
		l := mlp.Layer{In: in, Out: out}
		for range in * out {
			l.W = append(l.W, float32(r.NormFloat64()/8))
		}
		l.B = make([]float32, out)
		layers, in = append(layers, l), out
	}
	net, err := mlp.New(layers)
	require.NoError(t, err)
	return net
}

// A bundled duel bot plays as the same search and evaluator do in this program.
func TestBundledDuelBotsPlayLikeTheirTwins(t *testing.T) {
	for _, net := range []*mlp.Net{nil, duelNet(t)} {
		b, err := Bot{Game: "tetrisduel", Net: net}.Write()
		require.NoError(t, err)
		require.LessOrEqual(t, len(b.Source), MaxChars)
		t.Logf("%d characters, %d bits a weight", len(b.Source), b.Bits)
		var e search.Evaluator = tetrisduelbot.NewHand()
		if net != nil {
			rounded, err := Rounded(net, b.Bits)
			require.NoError(t, err)
			e, err = tetrisduelbot.NewLearned(rounded)
			require.NoError(t, err)
		}
		exe := filepath.Join(t.TempDir(), "bot")
		require.NoError(t, Check(t.Context(), b.Source, exe))
		twin := search.NewReply(tetrisduel.Game, e, 12)
		got, err := ReplayTetrisduel(t.Context(), []string{exe}, func(s *tetrisduel.State, a env.Action) {
			view := *s
			want, err := twin.Act(context.Background(), &view, s.Mover())
			require.NoError(t, err)
			require.Equal(t, tetrisduel.Game.Text(want), tetrisduel.Game.Text(a), "half-turn %d", s.Turn)
		})
		require.NoError(t, err)
		require.Equal(t, 2, got.Logs)
		require.Greater(t, got.Answers, 20)
	}
}

// A bundled duel bot that looks further does so as the search in this program, unless the clock of
// the contest cuts it short.
func TestBundledDuelBotLooksFurther(t *testing.T) {
	net := duelNet(t)
	b, err := Bot{Game: "tetrisduel", Net: net, Ply: 4}.Write()
	require.NoError(t, err)
	require.LessOrEqual(t, len(b.Source), MaxChars)
	require.Contains(t, string(b.Source), "4 choices ahead")
	rounded, err := Rounded(net, b.Bits)
	require.NoError(t, err)
	e, err := tetrisduelbot.NewLearned(rounded)
	require.NoError(t, err)
	exe := filepath.Join(t.TempDir(), "bot")
	require.NoError(t, Check(t.Context(), b.Source, exe))
	twin, same := search.NewMinimax(tetrisduel.Game, e, 4, 12), 0
	got, err := ReplayTetrisduel(t.Context(), []string{exe}, func(s *tetrisduel.State, a env.Action) {
		view := *s
		want, err := twin.Act(context.Background(), &view, s.Mover())
		require.NoError(t, err)
		if tetrisduel.Game.Text(want) == tetrisduel.Game.Text(a) {
			same++
		}
	})
	require.NoError(t, err)
	t.Logf("%d of %d choices the same, %v a choice, %v at most", same, got.Answers, got.Mean, got.Longest)
	require.Greater(t, got.Answers, 20)
	require.Greater(t, same, got.Answers*3/4)
}

func TestReplayRefusesADuelBotThatTalksNonsense(t *testing.T) {
	_, err := ReplayTetrisduel(t.Context(), []string{"sh", "-c", "while read -r w x; do case $w in blocks) echo ready;; moves) echo 0 0 0;; esac; done"}, nil)
	require.ErrorContains(t, err, "game 1: lost by illegal at half-turn 1")
	_, err = ReplayTetrisduel(t.Context(), []string{"sh", "-c", "exit 0"}, nil)
	require.ErrorContains(t, err, "game 1: lost by missing")
}
