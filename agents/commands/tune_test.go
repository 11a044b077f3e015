package commands

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/datasets/program"
	"blockyard/env/envtest"
	"blockyard/env/games"
)

// TestTune finds weights for hand in games of one seat and of two. The same seed finds the same ones with any number of
// workers, another seed others; hand plays them; curve and run.json stand beside the file.
func TestTune(t *testing.T) {
	for game, flags := range map[string]string{
		"wintetris":   "--cap 20 --budget 40 --games 2 --check 2",
		"blockbattle": "--budget 30 --games 2 --check 2",
		"dropblox":    "--with width=1,depth=1 --steps 12 --budget 20 --games 1 --check 1",
	} {
		path := filepath.Join(t.TempDir(), "w.json")
		g := envtest.Must(games.Open(game))
		var files [3]string
		for i, seed := range []string{"5 --workers 1", "5 --workers 3", "6"} {
			out := succeeds(t, "tune "+game+" -q "+flags+" --out "+path+" --seed "+seed)
			require.Contains(t, out, "weights in "+path, game)
			require.Regexp(t, `tuned (and|against) start`, out, game)
			require.Equal(t, seed[:1], envtest.Must(program.ReadRun(path+".run.json")).Seed)
			require.FileExists(t, path+".svg")
			files[i] = read(path)
			envtest.Must(bots.New(g, bots.Own("hand:weights="+path)))
		}
		require.Equal(t, files[0], files[1], "%s: the same seed", game)
		require.NotEqual(t, files[0], files[2], "%s: another seed", game)
	}
}

// A tuning that is stopped before its first generation says that it has written nothing.
func TestTuneStoppedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.json")
	out, _ := endsIn(t, envtest.Stopped(t), 0, "tune wintetris -q --out "+path)
	require.Contains(t, out, "no weights written")
	require.NoFileExists(t, path)
}

func TestTuneRefuses(t *testing.T) {
	misused(t, "tune ", map[string]string{
		"chess --out x":                             "chess",
		"blockbattle --out x --with ply=9":          "ply 9, want 1 to 4",
		"blockbattle --out x --with weights=a.json": "--with: weights are what is tuned",
		"blockbattle --out x --cap 5":               "--cap and --steps are for games of one seat",
		"wintetris --out x --with ply=1":            "unknown option",
		"wintetris --out x --cap -1":                "--cap -1, --steps 0: want none below 0",
		"wintetris --out x --workers -1":            "--workers -1: want a number from 1",
		"wintetris --out x --budget 300":            "--budget 300: want at least 360 games, one generation of 9 candidates",
		"blockbattle --out x --games 3":             "--games 3: want a multiple of 2",
		"blockbattle --out x --check 3":             "--check 3: want a multiple of 2",
		"blockbattle --out x --from none.json":      "none.json",
		"blockbattle":                               "--out",
	})
}
