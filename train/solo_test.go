package main

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"blockyard/train/selfplay/single"
	"blockyard/train/task"
)

func TestSelfplayAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	start := []string{"selfplay", "wintetris", "--out", dir, "--games=4", "--rounds=24", "--iterations=6", "--batch=32",
		"--hidden=6", "--gates=2", "--gate-games=2", "--gate-steps=20"}
	stopped, cancel := context.WithCancel(t.Context())
	cancel() // as Ctrl-C at once
	require.NoError(t, commandUntil(t, stopped, start...))
	require.FileExists(t, filepath.Join(dir, stateFile))
	require.ErrorContains(t, command(t, start...), "holds a run already")
	require.NoError(t, command(t, append(start, "--resume")...))
	for _, name := range []string{bestFile, curveFile, "net-001.safetensors", "net-002.safetensors"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	net, err := task.WinTetris.Load(filepath.Join(dir, bestFile))
	require.NoError(t, err)
	require.Equal(t, 6, net.Layers()[0].Out)

	require.ErrorContains(t, command(t, append(start, "--record=x")...), "without records")
	require.ErrorContains(t, command(t, append(start[:3:3], t.TempDir(), "--lambda=2")...), "lambda is 2")
}

func TestWhatOneSeatHasNot(t *testing.T) {
	require.ErrorContains(t, command(t, "gate", "learned", "hand", "--game=wintetris"), "agents arena wintetris --a")
	require.ErrorContains(t, command(t, "export", "wintetris"), "-buildmode=c-shared")
}

// The flags' defaults are the library's for one seat, too.
func TestSoloDefaults(t *testing.T) {
	var p program
	k, err := kong.New(&p)
	require.NoError(t, err)
	_, err = k.Parse([]string{"selfplay", "wintetris"})
	require.NoError(t, err)
	require.Equal(t, single.Default(), p.Selfplay.soloConfig())
	_, err = k.Parse([]string{"selfplay", "wintetris", "--for=1m", "--rate=0.5", "--lambda=0.1"})
	require.NoError(t, err)
	c := p.Selfplay.soloConfig()
	require.Equal(t, []float64{0.5, 0.1}, []float64{c.Rate, c.Lambda})
	require.Zero(t, c.Iterations)
}
