//go:build unix

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The benchmark trains the same net with and without worker processes.
func TestClusterBench(t *testing.T) {
	t.Setenv(asWorker, "1")
	bench := []string{"cluster", "bench", "blockbattle", "--workers=2", "--repeat=1", "--count=3", "--"}
	small := []string{"--backup=0", "--games=8", "--rounds=64", "--batch=64", "--hidden=6", "--gate-ply=1"}
	require.NoError(t, command(t, append(bench, small...)...))
	require.ErrorContains(t, command(t, append(bench, "--lambda=2", "--backup=0")...), "lambda is 2")
	require.ErrorContains(t, command(t, "cluster", "bench", "--workers=0"), "want 1 to 1000")
}
