package commands

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Entries that do not take part, in any contest between programs that talk in lines. The slow one answers every line,
// of which the first that matters is late.
var badEntries = map[string]string{
	"silent.py": "import sys\nfor line in sys.stdin:\n    pass\n",
	"crash.py":  "import sys\ninput()\nsys.exit('boom')\n",
	"slow.py":   "import sys, time\nfor line in sys.stdin:\n    if line[0] == 'b':\n        print('ready', flush=True)\n    if line[0] in 'atx':\n        time.sleep(60)\n        print('drop', flush=True)\n",
	"broken.go": "package main\n\nfunc main( {}\n",
}

// Those of Dropblox, whose programs are started for every block.
var badPrograms = map[string]string{
	"silent.py": "import time\ntime.sleep(60)\n",
	"crash.py":  "import sys\nsys.exit('boom')\n",
	"slow.py":   "import time\nprint('left', flush=True)\ntime.sleep(60)\n",
	"broken.go": "package main\n\nfunc main( {}\n",
}

// A shortContest is a contest with clocks short enough for a test. Those that take part must not come near them on a busy
// machine, as a time-out changes the table; those that are silent or slow use them up.
type shortContest struct {
	bad    map[string]string
	others []string // further entrants
	flags  []string
}

// TestTournamentsOfTwelve plays a tournament of twelve entries in every contest: the starters in four languages, four
// further agents or programs, and one each that is silent, crashes, is slow and does not compile. One that was killed in
// the middle ends with the table of one that was not. It runs if BLOCKYARD_LONG is set; TestTournament and
// TestTournamentGoesOnAfterAKill are its short forms.
func TestTournamentsOfTwelve(t *testing.T) {
	if os.Getenv("BLOCKYARD_LONG") == "" {
		t.Skip("long: set BLOCKYARD_LONG")
	}
	ours := []string{"first", "random", "hand:ply=1", "hand:ply=1,width=4"}
	python := "python3 ../submit/starters/dropblox/python/bot.py"
	for game, c := range map[string]shortContest{
		"blockbattle": {badEntries, ours, []string{"--timebank", "12s", "--time-per-move", "12s"}},
		"tetrisduel":  {badEntries, ours, []string{"--budget", "25s"}},
		"blocking":    {badEntries, ours, []string{"--first-time", "15s", "--time", "15s"}},
		"dropblox": {badPrograms, []string{python, python + " left", "env " + python, "env " + python + " left"},
			[]string{"--seconds", "60", "--turns", "3"}},
	} {
		t.Run(game, func(t *testing.T) {
			t.Parallel()
			subs := t.TempDir()
			writeFiles(t, subs, c.bad)
			playing := len(c.others)
			for language, s := range starterFiles {
				if !hasCompiler(t, language) {
					continue
				}
				playing++
				writeFiles(t, filepath.Join(subs, language), map[string]string{s.file: read(t, starter(game, language))})
			}
			args := slices.Concat(c.others, c.flags, []string{"--dir", subs, "--format", "swiss", "--rounds", "4", "--games", "1",
				"--finals", "0", "--workers", "2"})
			whole, out := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
			want := playTournamentOf(t, game, append(args, "--out", whole)...)
			require.True(t, want.Over)
			require.Len(t, want.Players, playing)
			require.Len(t, want.Refused, 4)
			for _, e := range want.Refused {
				require.Contains(t, c.bad, map[bool]string{true: e.Name + ".go", false: e.Name + ".py"}[e.Name == "broken"])
				require.NotEmpty(t, e.Refused)
			}
			text, err := os.ReadFile(filepath.Join(whole, "journal.jsonl"))
			require.NoError(t, err)
			for _, s := range want.Players {
				require.Zero(t, s.Faults, "%s: %s", s.Name, text)
			}
			// The other one begins behind the first game, so that the entrants are not tested again.
			require.NoError(t, os.CopyFS(out, os.DirFS(whole)))
			journal := filepath.Join(out, "journal.jsonl")
			require.NoError(t, os.WriteFile(journal, slices.Concat(bytes.SplitAfter(text, []byte("\n"))[:1]...), 0o644))
			killTournament(t, 2, want.Games, out, append([]string{game}, args...)...)
			requireSameTable(t, want, playTournamentOf(t, game, append(args, "--out", out)...))
		})
	}
}
