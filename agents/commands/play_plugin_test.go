//go:build unix

package commands

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
	"blockyard/agents/play/plugin"
	"blockyard/env/envtest"
)

// solver compiles a solver in C.
func solver(t *testing.T, source string) string {
	return compiletest.Once(filepath.Base(source)+".so", func(path string) {
		compiletest.C(t, "-shared", "-fPIC", "-o", path, "../submit/wintetris/"+source)
	})
}

func TestPlayWithALibrary(t *testing.T) {
	file := solver(t, "examples/solver.c")
	out, errs := ends(t, 0, "play wintetris --games 2 --limit-ms 60000 --plugin "+file)
	require.Empty(t, errs)
	number := regexp.MustCompile(` +[0-9]+\.[0-9]+( +[0-9]+\.[0-9]+) +[0-9]+ `) // times, and ticks in which they were long
	require.Equal(t, `    seed   lines  level  pieces     score conflicts  blocked  ms a tick longest ms   hung   late  failures  end
       1      46      5     146     11880         0        5 …      0         0  block out
       2      19      2      77      1260         0        0 …      0         0  block out
2 games, 32.5 lines on average
`, number.ReplaceAllString(out, " … "))
	got := decoded[plugin.Report](t, succeeds(t,
		"play wintetris --games 1 --seed 2 --strict --limit-ms 0 --json --cap-lines 5 --plugin "+file))
	require.Len(t, got.Games, 1)
	require.Equal(t, "capped", got.Games[0].End)
	require.EqualValues(t, 2, got.Games[0].Seed)
	require.True(t, got.Strict)

	for line, why := range map[string]string{
		"--plugin nowhere.so":                    "no such file",
		"--options x --plugin " + file:           "wt_open: there are no options, not even x",
		"--plugin play_plugin_test.go --games 2": "load: ",
	} {
		fails(t, 1, why, "play wintetris "+line)
	}
	misused(t, "play ", map[string]string{
		"blocking --plugin x":                      "--plugin is for wintetris, not blocking",
		"wintetris --plugin x --agent hand":        "--agent and --plugin can't be used together",
		"wintetris --plugin x --games=-1":          "--games is at least 1",
		"wintetris --plugin x --limit-ms=-1":       "not negative",
		"wintetris --agent hand --games 2":         "--games needs --plugin",
		"wintetris":                                "missing flags: --a=AGENT",
		"wintetris --plugin x --games 2 --show":    "are for one game",
		"wintetris --plugin x --speed=-1":          "want 0 to 1000",
		"wintetris --plugin x --strict --record y": "--record and --strict can't be used together",
		"wintetris --agent hand --limit-ms 1000":   "--limit-ms needs --plugin",
	})
}

// TestWatchALibrary shows and records a game of a library: the record replays to the same result.
func TestWatchALibrary(t *testing.T) {
	file, games := solver(t, "examples/solver.c"), filepath.Join(t.TempDir(), "g.jsonl")
	out := succeeds(t, "play wintetris --cap-lines 3 --limit-ms 60000 --show --speed 1000 --record "+games+" --plugin "+file)
	require.Contains(t, out, "tick 1: ")
	require.Regexp(t, `tick 9: \S+, after [0-9.]+ ms of 500\n`, out)
	recs := checked(t, games)
	require.Len(t, recs, 1)
	require.Equal(t, "wintetris:tick", recs[0].Game)
	require.GreaterOrEqual(t, recs[0].Scores[0], 3)
	require.Equal(t, []string{"plugin:" + file}, recs[0].Agents)
	succeeds(t, "play wintetris --cap-lines 3 --record "+games+" --plugin mine="+file)
	require.Equal(t, []string{"mine"}, checked(t, games)[1].Agents)

}

// TestPlayWithALibraryThatCrashes: every game is told of, and the status says it.
func TestPlayWithALibraryThatCrashes(t *testing.T) {
	file := solver(t, "../../contest/library/testdata/misbehave.c")
	out, errs := ends(t, 1, "play wintetris --games 3 --quiet --options crash --plugin "+file)
	require.Equal(t, 3, strings.Count(out, " fault\n"), out)
	require.Contains(t, out, "seed 3: crashed (SIGSEGV: segmentation violation) in wt_update\n")
	require.Contains(t, errs, "3 of 3 games ended by a fault, the first: crashed (SIGSEGV")
	out, _ = endsIn(t, envtest.Stopped(t), 0, "play wintetris --games 3 --plugin "+file)
	require.Equal(t, 1, strings.Count(out, "stopped early"))
}
