package commands

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/datasets/program"
	"blockyard/env/games"
)

// TestTune finds weights for hand in games of one seat and of two. The same seed finds the same ones with any number of
// workers, another seed others; hand plays them; curve and run.json stand beside the file.
func TestTune(t *testing.T) {
	for game, flags := range map[string]string{
		"wintetris":   "--cap 20 --budget 40 --games 2 --check 2",
		"blockbattle": "--budget 30 --games 2 --check 2",
		"tetrisduel":  "--budget 60 --games 2 --check 2",
		"dropblox":    "--with width=1,depth=1 --steps 12 --budget 20 --games 1 --check 1",
	} {
		dir := t.TempDir()
		var files [3][]byte
		for i, seed := range []string{"5 --workers 1", "5 --workers 3", "6"} {
			path := filepath.Join(dir, "w.json")
			out := succeeds(t, "tune "+game+" -q "+flags+" --out "+path+" --seed "+seed)
			require.Contains(t, out, "weights in "+path, game)
			require.Regexp(t, `tuned (and|against) start`, out, game)
			made, err := program.ReadRun(path + ".run.json")
			require.NoError(t, err)
			require.Equal(t, seed[:1], made.Seed)
			require.FileExists(t, path+".svg")
			files[i], err = os.ReadFile(path)
			require.NoError(t, err)
			g, err := games.Open(game)
			require.NoError(t, err)
			_, err = bots.New(g, bots.Own("hand:weights="+path))
			require.NoError(t, err)
		}
		require.Equal(t, files[0], files[1], "%s: the same seed", game)
		require.NotEqual(t, files[0], files[2], "%s: another seed", game)
	}
}

// A tuning that is stopped before its first generation says that it has written nothing.
func TestTuneStoppedAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	path := filepath.Join(t.TempDir(), "w.json")
	status, out, errs := agents(ctx, "tune wintetris -q --out "+path)
	require.Zero(t, status, errs)
	require.Contains(t, out, "no weights written")
	require.NoFileExists(t, path)
}

func TestTuneRefuses(t *testing.T) {
	misused(t, "", map[string]string{
		"tune chess --out x":                             "chess",
		"tune blockbattle --out x --with ply=9":          "ply 9, want 1 to 4",
		"tune blockbattle --out x --with weights=a.json": "--with: weights are what is tuned",
		"tune blockbattle --out x --cap 5":               "--cap and --steps are for games of one seat",
		"tune wintetris --out x --with ply=1":            "unknown option",
		"tune wintetris --out x --cap -1":                "--cap -1, --steps 0: want none below 0",
		"tune wintetris --out x --workers -1":            "--workers -1: want a number from 1",
		"tune wintetris --out x --budget 300":            "--budget 300: want at least 360 games, one generation of 9 candidates",
		"tune blockbattle --out x --games 3":             "--games 3: want a multiple of 2",
		"tune blockbattle --out x --check 3":             "--check 3: want a multiple of 2",
		"tune blockbattle --out x --from none.json":      "none.json",
		"tune blockbattle":                               "--out",
	})
}
