package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/blockbattlebot"
)

func TestTune(t *testing.T) {
	dir := t.TempDir()
	var files [3][]byte
	for i, seed := range []string{"5", "5", "6"} {
		path := filepath.Join(dir, seed+".json")
		status, out, errs := agents(context.Background(), "tune blockbattle --pairs 6 --check 2 --seed "+seed+" --out "+path)
		require.Zero(t, status, errs)
		require.Contains(t, out, "6 pairs")
		require.Contains(t, out, "of 2 games")
		w, err := blockbattlebot.LoadWeights(path)
		require.NoError(t, err)
		require.NotEqual(t, blockbattlebot.Tuned, w)
		files[i], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	require.Equal(t, files[0], files[1], "the same seed")
	require.NotEqual(t, files[0], files[2], "another seed")
}

func TestTuneCutShortKeepsWhatThereIs(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	path := filepath.Join(t.TempDir(), "w.json")
	status, out, errs := agents(ctx, "tune blockbattle --out "+path)
	require.Zero(t, status, errs)
	require.Contains(t, out, "0 pairs")
	w, err := blockbattlebot.LoadWeights(path)
	require.NoError(t, err)
	require.Equal(t, blockbattlebot.Tuned, w)
}

func TestTuneRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"tune chess --out x":                          "chess",
		"tune blockbattle --out x --ply 3":            "--ply 3",
		"tune blockbattle --out x --pairs 0":          "--pairs",
		"tune blockbattle --out x --spread 2":         "--spread",
		"tune blockbattle --out x --from none.json":   "none.json",
		"tune blockbattle --out x --check 3 --seed 1": "--check",
		"tune blockbattle":                            "--out",
	} {
		status, _, errs := agents(context.Background(), line)
		require.Equal(t, 2, status, line)
		require.Contains(t, errs, want, line)
	}
}
