//go:build unix

package commands

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blockyard/datasets/record"
	"blockyard/env/envtest"
	"blockyard/train/selfplay"

	"github.com/stretchr/testify/require"
)

// A run that is killed with SIGKILL at the second save after every start, and continued, records each game exactly once.
// The first save may be that of the start, which would leave each run where the one before was.
func TestKillsLoseNoGame(t *testing.T) {
	dir := t.TempDir()
	args := func(name string, more ...string) []string {
		return runIn(filepath.Join(dir, name), more, "--record", filepath.Join(dir, name+".jsonl"))
	}
	more := []string{"--backup=0.2", "--games=4", "--rounds=24", "--iterations=32", "--batch=32", "--hidden=6", "--gates=8",
		"--gate-pairs=1", "--gate-ply=1"}
	require.NoError(t, command(t, args("whole", more...)...))
	want := recordedIn(t, filepath.Join(dir, "whole.jsonl"))
	require.NotEmpty(t, want)

	kills := 0
	for name := "killed"; kills == 0; name += " again" { // the machine may hold this test up for a whole run
		kills = killed(t, filepath.Join(dir, name, selfplay.StateFile), args(name, more...), args(name, "--resume"))
		require.Equal(t, want, recordedIn(t, filepath.Join(dir, name+".jsonl")))
	}
	t.Log(kills, "kills")
}

// killed starts a run, kills it at the second save, and continues it in the same way until it has ended. It returns how
// often it was killed.
func killed(t *testing.T, state string, start, resume []string) (kills int) {
	var saved time.Time
	for argv := start; ; argv = resume {
		p := process(argv...)
		var says bytes.Buffer
		p.Stderr = &says
		require.NoError(t, p.Start())
		ended := make(chan error, 1)
		go func() { ended <- p.Wait() }()
		for saves := 0; len(ended) == 0; time.Sleep(time.Millisecond) {
			if info, err := os.Stat(state); err == nil && info.ModTime().After(saved) {
				saved = info.ModTime()
				if saves++; saves >= 2 {
					_ = p.Process.Kill() // it may have ended
				}
			}
		}
		err := <-ended
		if err == nil {
			return kills
		}
		require.ErrorContains(t, err, "signal: killed", says.String())
		kills++
	}
}

// recordedIn returns the records of a file.
func recordedIn(t *testing.T, path string) (all []string) {
	in := envtest.Must(record.Open(path))
	defer in.Close()
	for rec, err := range in.All() {
		require.NoError(t, err)
		text := envtest.Must(json.Marshal(rec))
		all = append(all, string(text))
	}
	return all
}
