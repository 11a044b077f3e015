package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAPersonPlays: moves come from standard input, the game is recorded, and leaving it is no error.
func TestAPersonPlays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "g.jsonl")
	var out, errs bytes.Buffer
	con := &console{In: strings.NewReader("r0 x0 y19\nq\n"), Out: &out, Err: &errs}
	status := run(t.Context(), []string{"play", "blockbattle", "--a", "human", "--b", "first", "--record", file}, con)
	require.Zero(t, status, errs.String())
	require.Contains(t, out.String(), "seat 1, your move")
	recs := checked(t, file)
	require.Equal(t, []string{"human", "first"}, recs[0].Agents)
	require.Len(t, recs[0].Choices, 2, "one round")
	require.True(t, recs[0].Stopped)

	con = &console{In: strings.NewReader("q\n"), Out: &out, Err: &errs}
	python := filepath.Join(t.TempDir(), "fall.py")
	source := "for line in open(0):\n    if line.startswith('action'): print('drop', flush=True)\n"
	require.NoError(t, os.WriteFile(python, []byte(source), 0o644))
	args := []string{"play", "blockbattle", "--a", "Ann=human", "--b", "fall=" + python, "--record", file}
	require.Zero(t, run(t.Context(), args, con), errs.String())
	require.Equal(t, []string{"Ann", "fall"}, checked(t, file)[1].Agents)
	require.Contains(t, out.String(), "  Ann\n")
	args = []string{"play", "blockbattle", "-a", "fall=" + python, "-a", "hand:ply=1", "--record", file}
	require.Zero(t, run(t.Context(), args, con), errs.String())
	require.Equal(t, []string{"fall", "hand:ply=1"}, checked(t, file)[2].Agents)
	misused(t, "", map[string]string{
		"play wintetris --a human":                      "this needs a terminal",
		"play blockbattle --b first":                    "--b needs --a",
		"play blockbattle --a human -a first":           "--agent and --a can't be used together",
		"play blockbattle --a human --b no":             "no",
		"play wintetris:tick --a human --speed 0":       "want more than 0 for a person",
		"play blockbattle --agent human --agent nobody": "nobody",
	})
}
