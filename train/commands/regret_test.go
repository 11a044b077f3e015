package commands

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/env/envtest"
	"blockyard/train/games"
)

// A teacher has no regrets about its own choices, others have, and the same command makes the same file.
func TestRegret(t *testing.T) {
	dir := t.TempDir()
	file, again := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	for _, path := range []string{file, again} {
		require.NoError(t, command(t, "regret", path, "--make=blockbattle", "--teacher=learned:ply=2", "--positions=12"))
	}
	require.Equal(t, read(file), read(again))
	l, _, err := readLesson(file)
	require.NoError(t, err)
	require.Len(t, l.decisions, 12)
	silent := program.NewBar(io.Discard, true, -1, "decisions")
	regrets := func(name string) (out []float64) {
		list := envtest.Must(l.judge(t.Context(), games.BlockBattle, name, 2, silent))
		return row(io.Discard, name, list, nil)
	}
	require.Equal(t, make([]float64, 12), regrets("learned"))
	const shipped = "../../agents/bots/blockbattlebot/weights/blockbattle.safetensors"
	require.Equal(t, make([]float64, 12), regrets(shipped))
	require.Equal(t, make([]float64, 12), regrets("learned:ply=2,weights="+shipped))
	require.Greater(t, match.MeanOf(regrets("random")).Low, 0.)
	require.NoError(t, command(t, "regret", file, "learned", "hand:ply=1"))

	l.decisions[3].Values = l.decisions[3].Values[1:]
	require.ErrorContains(t, envtest.Failed(l.judge(t.Context(), games.BlockBattle, "hand", 1, silent)), "decision 3: ")
	broken, none := filepath.Join(dir, "c.json"), filepath.Join(dir, "d.json")
	require.NoError(t, os.WriteFile(broken, []byte("["), 0o600))
	refuses(t, map[string]string{
		"regret " + broken + " hand":                              "not decisions with values",
		"regret " + none + " --make=tetrisduel":                   "a game with draws that a search enumerates",
		"regret " + file + " nobody":                              "agent \"nobody\": ",
		"regret " + none + " --make=blockbattle --teacher=random": "it gives no values to actions",
	})
}
