package commands

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The simulation puts as many slots into a task as a learner, without a flag for it.
func TestClusterSimulate(t *testing.T) {
	for flags, want := range map[string]string{"": "16", "--group=5": "5", "--task=1s": "1", "--slots=3 --group=0": "1"} {
		args := append([]string{"cluster", "simulate", "--workers=1", "--count=2"}, strings.Fields(flags)...)
		out := printed(t, func() { require.NoError(t, command(t, args...)) })
		require.Equal(t, want, strings.Fields(strings.Split(out, "\n")[1])[1], out)
	}
	require.ErrorContains(t, command(t, "cluster", "simulate", "--group=65"), "65 slots per task, want 0 to 64")
}

// printed returns what do prints: less than a pipe holds.
func printed(t *testing.T, do func()) string {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = write
	do()
	os.Stdout = stdout
	require.NoError(t, write.Close())
	text, err := io.ReadAll(read)
	require.NoError(t, err)
	return string(text)
}
