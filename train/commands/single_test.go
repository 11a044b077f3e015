package commands

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/train/games"
	"blockyard/train/selfplay"
)

func TestSelfplaySingle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	start := []string{"selfplay", "wintetris", "--out", dir, "--games=4", "--rounds=24", "--iterations=6", "--batch=32",
		"--hidden=6", "--gates=2", "--gate-games=2", "--gate-steps=20"}
	stopped, cancel := context.WithCancel(t.Context())
	cancel() // as Ctrl-C at once
	require.NoError(t, commandUntil(t, stopped, start...))
	require.FileExists(t, filepath.Join(dir, selfplay.StateFile))
	require.ErrorContains(t, command(t, start...), "holds a run already")
	require.NoError(t, command(t, append(start[:4:4], "--resume")...))
	for _, name := range []string{selfplay.BestFile, selfplay.CurveFile, "net-001.safetensors", "net-002.safetensors"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	net, err := games.WinTetris.Load(filepath.Join(dir, selfplay.BestFile))
	require.NoError(t, err)
	require.Equal(t, 6, net.Layers()[0].Out)

	require.ErrorContains(t, command(t, append(start, "--record=x")...), "without records")
	require.ErrorContains(t, command(t, append(start[:3:3], t.TempDir(), "--lambda=2")...), "lambda is 2")
}
