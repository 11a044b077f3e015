//go:build unix

package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/datasets/record/gamelog"
	"blockyard/datasets/viewer"
	"blockyard/env/envtest"
)

// dropblox goes to an empty folder with a program for Dropblox in it.
func dropblox(t *testing.T, script string) {
	t.Chdir(t.TempDir())
	place(t, "dropblox_ai", script)
}

// place writes a program.
func place(t *testing.T, path, script string) {
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
}

// globbed are the paths of so many files.
func globbed(t *testing.T, n int, pattern string) []string {
	list := envtest.Must(filepath.Glob(pattern))
	require.Len(t, list, n, pattern)
	return list
}

func TestHostDropbloxLocal(t *testing.T) {
	dropblox(t, `echo left; echo hello; echo "to you" >&2`)
	out, errs := ends(t, 0, "host dropblox local --seed -77 --record games.jsonl")
	const begins = "INVALID COMMAND: hello\nTerminating process\ncommands received: ['left']\n" +
		"moves_made: 1 score: 0 seconds_remaining: 2"
	require.True(t, strings.HasPrefix(out, begins), out)
	require.Regexp(t, `\nGame over! Your score was: 0\nRESULTS: 0\nRESULTS_TIME: \d+\n$`, out)
	require.Contains(t, errs, "to you\n")
	meta := globbed(t, 1, "history/0_*/meta")
	require.Contains(t, read(meta[0]), `"seed":"-77","program":"dropblox_ai","mode":"local"`)
	require.Len(t, checked(t, "games.jsonl"), 1)

	again := succeeds(t, "host dropblox --seed 77 --history", "")
	require.Equal(t, strings.Count(out, "moves_made"), strings.Count(again, "moves_made"), "a seed and its negative are one game")
	globbed(t, 1, "history/*")
}

func TestHostDropbloxRandomSeed(t *testing.T) {
	dropblox(t, `exit`)
	for _, line := range []string{"--seed -5", "--seeds -5,6,-7", "local -- -5"} { // which are no flags
		succeeds(t, "host dropblox --turns 1 --history= "+line)
	}
	seed := regexp.MustCompile(`^Seed: \d+\n`)
	first := succeeds(t, "host dropblox local --turns 2 --history=")
	require.Contains(t, first, "RESULTS_TIME: 1\n")
	require.Regexp(t, seed, first)
	require.NotEqual(t, seed.FindString(first), seed.FindString(succeeds(t, "host dropblox --turns 1 --history=")))
}

func TestHostDropbloxTournament(t *testing.T) {
	dropblox(t, `echo left; echo "some words" >&2`)
	place(t, "idle", `:`)
	place(t, "gone", `rm -f "$0"`)
	const line = "host dropblox --bot ./dropblox_ai --bot idle --bot ./gone "
	out, errs := ends(t, 0, line+"--seed 9 --games 3 --record games.jsonl.gz --log logs --history h --json")
	require.Empty(t, errs)
	got := decoded[match.Report](t, out)
	require.Len(t, got.Played, 9)
	for i, g := range got.Played {
		require.Equal(t, []any{strconv.Itoa(9 + i/3), []int{i % 3}}, []any{g.Seed, g.Seats})
	}
	require.Equal(t, 3, got.Players[0].Ends["blocked"])
	require.Equal(t, 3, got.Players[2].Ends["failed"])
	require.Contains(t, got.Played[2].Faults[0], "no such file")
	require.Greater(t, got.Players[0].Turns, got.Players[1].Turns)
	require.Equal(t, map[string]string{"seconds": "300"}, got.Settings)
	require.Len(t, checked(t, "games.jsonl.gz"), 9)
	globbed(t, 9, "h/[ABC][123]_*/state0")

	log := read("logs/A1.log")
	require.Regexp(t, `(?m)^over after \d+ turns, 0 points: blocked $`, log)
	turns := envtest.Must(gamelog.Read("A1.log", strings.NewReader(log)))
	require.Len(t, turns, got.Played[0].Rounds)
	for _, now := range turns {
		require.Contains(t, now[0].Input, `{"state": "playing"`)
		require.Equal(t, []string{"left", "some words"}, []string{now[0].Answer, now[0].Errors})
		require.Regexp(t, `^\d+\.\d{3} ms of \d+\.\d{3} ms; CPU \d+\.\d{3} ms$`, now[0].Time, "every answer has its time")
	}
	rec, _ := envtest.Must2(viewer.ReadGame(t.Context(), "logs/A1.log", 1, 0))
	require.Len(t, rec.Choices, len(turns), "the log ends with the record of its game")

	place(t, "gone", `rm -f "$0"`)
	out = succeeds(t, line+"--seeds -9,+10 --turns 4 --workers 2")
	require.Contains(t, out, "dropblox, seed -9: 6 games, 300 s a game, at most 4 turns\nA: ./dropblox_ai\nB: idle\n")
	require.Regexp(t, `\n +1 +-9 +A +4 +0 +1 +turns\n`, out)
	require.Regexp(t, `\n +A +2 .* 0\.0 +0\.0 to 0\.0 +0 *\n(?s:.*)\n +A +4\.0 .* turns 2`, out)
	require.Contains(t, out, "failed 2")
	require.Contains(t, out, "games against idle: 50.0 %, 95 % interval 7.9 to 92.1; +0.0 (+0.0 to +0.0) points a seed\n")
}

func TestHostDropbloxNames(t *testing.T) {
	dropblox(t, `echo left`)
	place(t, "hand", `:`)
	const line = "host dropblox --seed 9 --turns 1 --bot "
	out := succeeds(t, line+"Ann=./dropblox_ai --bot exec:./dropblox_ai --bot hand") // a program of the name of an agent
	require.Contains(t, out, "\nA: Ann\nB: ./dropblox_ai\nC: hand\n")
	misused(t, line+"./dropblox_ai --bot ", map[string]string{
		"learned":          "make a program of it with agents bundle",
		"Ann=hand:depth=1": "make a program of it with agents bundle",
		"hand:ply=1":       "unknown option \"ply\"",
		"Ann=./gone":       `unknown agent "./gone"; dropblox has`,
		"exec:./gone":      "program ./gone: ",
	})
}

func TestHostDropbloxStops(t *testing.T) {
	for _, c := range []struct {
		line   string
		status int
		want   string
	}{
		{"local 5", 1, "agents: stopped after 1 turns with 0 points\n"},
		{"--seeds 5,6 --json --record games.jsonl", 0, `"stopped":true`},
	} {
		dropblox(t, `[ -e slow ] && touch second && sleep 600; touch slow`)
		r := begin(t, nil, "host dropblox "+c.line)
		present(t, "second") // it is in the second turn
		require.Equal(t, c.status, r.stop(t))
		require.Contains(t, r.out.String()+r.errs.String(), c.want)
		if c.status == 0 {
			require.True(t, checked(t, "games.jsonl")[0].Stopped)
			continue
		}
		meta := globbed(t, 1, "history/0_*/meta")
		require.Contains(t, read(meta[0]), `"turns":1,"score":0,"reason":"stopped"`)
	}
}

func TestHostDropbloxRefuses(t *testing.T) {
	dropblox(t, `exit`)
	writeFiles(t, ".", map[string]string{"plain": ""})
	misused(t, "host dropblox ", map[string]string{
		"remote":                           "want local, practice or compete",
		"local abc":                        `seed "abc": want a whole number`,
		"local 1.5":                        "want a whole number",
		"local 5 --seed 6":                 "the seed is given twice",
		"local --seeds 1,x":                `seed "x"`,
		"local --seeds 1,2 --seed 3":       "--seeds does not go with",
		"--games 0":                        "--games 0: want a number from 1",
		"--points=-1":                      "--points -1: want a whole number from 0",
		"--workers 0":                      "--workers 0: want a whole number from 1",
		"--seconds 0":                      "--seconds 0",
		"--seconds NaN":                    "--seconds NaN",
		"--bot ./none":                     `unknown agent "./none"; dropblox has`,
		"--bot plain":                      "program plain: permission denied",
		"practice":                         "practice needs --server=URL",
		"practice 5 --server http://x":     "practice takes one program and no seed",
		"compete --games 2 --server x":     "--games has no effect with compete",
		"practice --server x --config not": "not: no such file",
	})
	require.Contains(t, succeeds(t, "host dropblox --help"), "dropblox_ai")
	globbed(t, 2, "*")
}
