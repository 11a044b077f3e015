package program

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBesideAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "games.jsonl")
	require.NoError(t, Begin("agents", "-7").WriteBeside(file))
	r, err := ReadRun(file + ".run.json")
	require.NoError(t, err)
	require.NotZero(t, r.Started)
	require.GreaterOrEqual(t, *r.Seconds, 0.0)
	want := Run{Program: "agents", Command: os.Args[1:], Seed: "-7", Release: Read(), Started: r.Started, Seconds: r.Seconds}
	require.Equal(t, &want, r)
}

// A process that continues the results of a folder leaves what was said of those before it; one that was killed has
// no duration.
func TestFolderKeepsEarlierProcesses(t *testing.T) {
	folder := t.TempDir()
	for k := range maxEarlier + 3 {
		r := Begin("train", strconv.Itoa(k))
		require.NoError(t, r.Open(folder))
		if k%2 == 0 {
			require.NoError(t, r.Close(folder))
		}
	}
	r, err := ReadRun(filepath.Join(folder, RunFile))
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(maxEarlier+2), r.Seed)
	require.Len(t, r.Earlier, maxEarlier)
	for k, e := range r.Earlier {
		require.Equal(t, strconv.Itoa(k+2), e.Seed)
		require.Equal(t, k%2 == 0, e.Seconds != nil)
		require.Empty(t, e.Earlier)
	}
}

func TestDamagedFileIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), RunFile)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o644))
	require.ErrorContains(t, Begin("train", "").Open(filepath.Dir(path)), path+", which says")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "{", string(text))
}

func TestSecretsAreHidden(t *testing.T) {
	given := []string{"--token", "abc", "--seed", "1", "--api-key=abc", "--token-file", "f", "nats://me:abc@host:1", "--token"}
	require.Equal(t,
		[]string{"--token", "***", "--seed", "1", "--api-key=***", "--token-file", "f", "nats://***@host:1", "--token"},
		hideSecrets(given))
	require.Equal(t, "abc", given[1])
}
