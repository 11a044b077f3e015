package commands

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/datasets/program"
	"blockyard/train/games"
)

// A teacher has no regrets about its own choices, others have, and the same command makes the same file.
func TestRegret(t *testing.T) {
	dir := t.TempDir()
	file, again := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	for _, path := range []string{file, again} {
		require.NoError(t, command(t, "regret", path, "--make=blockbattle", "--teacher=learned:ply=2", "--decisions=12"))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	other, err := os.ReadFile(again)
	require.NoError(t, err)
	require.Equal(t, text, other)
	l := new(lesson)
	require.NoError(t, json.Unmarshal(text, l))
	require.Len(t, l.Decisions, 12)
	none := program.NewBar(io.Discard, true, -1, "decisions")
	own, err := l.judge(t.Context(), games.BlockBattle, "learned", none)
	require.NoError(t, err)
	require.Equal(t, make([]float64, 12), own)
	random, err := l.judge(t.Context(), games.BlockBattle, "random", none)
	require.NoError(t, err)
	require.Greater(t, match.MeanOf(random).Low, 0.)
	require.NoError(t, command(t, "regret", file, "learned", "hand:ply=1"))

	l.Decisions[3].Values = l.Decisions[3].Values[1:]
	_, err = l.judge(t.Context(), games.BlockBattle, "hand", none)
	require.ErrorContains(t, err, "decision 3: ")
	for says, c := range map[string][]string{
		"not decisions of a teacher":  {filepath.Join(dir, "c.json"), "hand"},
		"a game with draws":           {filepath.Join(dir, "d.json"), "--make=tetrisduel"},
		"agent \"nobody\": ":          {file, "nobody"},
		"it gives no values to actio": {filepath.Join(dir, "d.json"), "--make=blockbattle", "--teacher=random"},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "c.json"), []byte("["), 0o600))
		require.ErrorContains(t, command(t, append([]string{"regret"}, c...)...), says)
	}
}
