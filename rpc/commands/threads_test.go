package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every game has a line per number of threads, relative to the first number.
func TestBenchThreads(t *testing.T) {
	t.Setenv("BLOCKYARD_RPC_PROGRAM", version) // the servers that it starts are this program
	bench := []string{"bench", "--threads", "1,3", "--rounds", "1", "--burst", "1ms", "--envs", "8"}
	var all []speed
	for line := range strings.Lines(printed(t, append(bench, "--json")...)) {
		var s speed
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		require.Positive(t, s.PerSec)
		require.Positive(t, s.PerCPU)
		all = append(all, s)
	}
	require.Len(t, all, 2*5)
	for k, s := range all {
		require.Equal(t, []int{1, 3}[k%2], s.Threads)
		require.Equal(t, 8, s.N)
		require.Equal(t, all[k-k%2].Game, s.Game)
		require.InEpsilon(t, s.PerSec/all[k-k%2].PerSec, s.Relative, 1e-9)
	}
	require.Contains(t, printed(t, append(bench, "--game", "wintetris")...), "seat-steps/s  ratio  per core-second")
	require.Equal(t, 1, run(t.Context(), []string{"bench", "--threads", "0"}))
	require.Equal(t, 1, run(t.Context(), append(bench, "--game", "chess")))
}
