package commands

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env/games"
)

// Every opponent of every game has a line, with what its choice costs: in times of random's, which costs 1.
func TestBenchOpponents(t *testing.T) {
	var costs []cost
	for line := range strings.Lines(printed(t, "bench", "--opponents", "--rounds", "1", "--burst", "2ms", "--json")) {
		var c cost
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		costs = append(costs, c)
	}
	at := map[string]float64{}
	for _, c := range costs {
		at[c.Game+" "+c.Opponent] = c.Relative
	}
	for _, g := range games.All {
		for _, name := range bots.Names(g) {
			if !strings.Contains(g.Name, ":") {
				require.Contains(t, at, g.Name+" "+name)
			}
		}
	}
	require.Equal(t, 1.0, at["tetrisduel random"])
	for name, relative := range at {
		require.Positive(t, relative, name)
	}
	require.Contains(t, printed(t, "bench", "--opponents", "--rounds", "1", "--burst", "1ms", "--game", "wintetris"),
		"times random")
	require.Equal(t, 1, run(t.Context(), []string{"bench", "--opponents", "--game", "chess"}))
}

// printed runs a command line and returns what it prints.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	old := os.Stdout
	defer func() { os.Stdout = old }()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	os.Stdout = w
	done := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		done <- string(b)
	}()
	status := run(t.Context(), args)
	require.NoError(t, w.Close())
	text := <-done
	require.Zero(t, status)
	return text
}
