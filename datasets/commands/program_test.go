package commands

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blockyard/datasets/program"
	"blockyard/datasets/viewer"

	"blockyard/datasets/record"
	"blockyard/datasets/record/jsonl"
	"blockyard/env/games"

	"github.com/stretchr/testify/require"
)

// must returns the result of a step that does not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

const sample = "../games/blockbattle.jsonl"

// call runs a command line, which ends with a status, and returns its output and errors.
func call(t *testing.T, status int, args ...string) (out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	got := run(args, &program.Console{In: strings.NewReader(""), Out: &o, Err: &e})
	require.Equal(t, status, got, "%q: %s%s", args, &o, &e)
	return o.String(), e.String()
}

// refused runs command lines, each of which ends with a status and says why.
func refused(t *testing.T, status int, lines map[string]string) {
	t.Helper()
	for line, why := range lines {
		_, errs := call(t, status, strings.Fields(line)...)
		require.Contains(t, errs, why, line)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	return string(must(os.ReadFile(path)))
}

func write(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// records writes records to a new file.
func records(t *testing.T, path string, all ...*record.Record) string {
	t.Helper()
	w := must(record.Create(path))
	for _, rec := range all {
		require.NoError(t, w.Write(rec))
	}
	require.NoError(t, w.Close())
	return path
}

// readSample reads the record of the sample.
func readSample(t *testing.T) *record.Record {
	t.Helper()
	rec, _, err := viewer.ReadGame(t.Context(), sample, 1, jsonl.MaxBytes)
	require.NoError(t, err)
	return rec
}

// Every contest has a recorded game here, and it replays.
func TestRecordedGamesCheck(t *testing.T) {
	for _, g := range games.All {
		if strings.Contains(g.Name, ":") {
			continue
		}
		out, _ := call(t, 0, "check", "../games/"+g.Name+".jsonl")
		require.Regexp(t, `^../games/`+g.Name+`\.jsonl: [1-9]\d* games, 0 differ\n$`, out)
	}
}

func TestCheckReportsDifferences(t *testing.T) {
	good, spoilt := readSample(t), readSample(t)
	spoilt.Scores[0] += 100
	file := records(t, filepath.Join(t.TempDir(), "games.jsonl"), good, spoilt, good, spoilt)

	out, errs := call(t, 1, "check", file)
	require.Empty(t, errs)
	require.Contains(t, out, file+"#2: the replayed game differs from the record: scores ")
	require.NotContains(t, out, "#4")
	require.Contains(t, out, file+": 4 games, 2 differ\n")
	out, _ = call(t, 1, "check", "--all", file)
	require.Contains(t, out, file+"#4: ")

	text := read(t, sample)
	half := write(t, "half.jsonl", text+text[:len(text)/2])
	out, errs = call(t, 1, "check", half, sample)
	require.Contains(t, errs, half+":2: the file ends in the middle of a line")
	require.Contains(t, out, sample+": 1 games, 0 differ\n", "the other files are still checked")
	out, _ = call(t, 0, "check", "--allow-partial", half)
	require.Contains(t, out, "1 games, 0 differ")
	call(t, 0, "repair", half)
	call(t, 0, "check", half)
	refused(t, 1, map[string]string{
		"repair none.jsonl": "no such file", "check none.jsonl": "no such file",
		"check " + write(t, "odd.jsonl", "{}\n"): "odd.jsonl:1: invalid record: game is empty, want a name",
	})
}

func TestConformExitStatusAndFirstDifference(t *testing.T) {
	const dir = "../testdata/blockbattle/"
	given := []string{dir + "classic_games.jsonl.gz", dir + "classic_rounds.jsonl.gz",
		dir + "port_games.jsonl.gz", dir + "protocol_logs.jsonl.gz"}
	out, errs := call(t, 0, append([]string{"conform", "blockbattle"}, given...)...)
	require.Empty(t, errs)
	require.Equal(t, 4, strings.Count(out, " values compared, 0 differ\n"))
	require.Equal(t, 4, strings.Count(out, "\n"), "one line a file")

	in := must(jsonl.Open(given[2]))
	defer in.Close()
	var lines []string
	for line := range in.All() {
		lines = append(lines, string(line)+"\n")
	}
	lines[1] = strings.Replace(lines[1], `"gain":0`, `"gain":7`, 1)
	file := write(t, "port.txt", strings.Join(lines, ""))
	out, _ = call(t, 1, "conform", "blockbattle", file, given[0])
	require.Contains(t, out, "6 games, ")
	require.Contains(t, out, " values compared, 1 differ\n"+file+":2: game ")
	require.Contains(t, out, ", round 1, player1, gain\n  recorded: 7\n  replayed: 0\n  piece ")
	require.Contains(t, out, given[0]+": 10 games")

	lines[3] = "{broken\n"
	out, errs = call(t, 1, "conform", "blockbattle", write(t, "broken", strings.Join(lines, "")))
	require.Contains(t, errs, "broken:4: malformed record: ")
	require.Contains(t, out, "broken: 3 games, ")
	refused(t, 1, map[string]string{
		"conform chess " + file: `no checker for transcripts of "chess", want one of blockbattle`,
	})
}

func TestStat(t *testing.T) {
	text := read(t, sample)
	out, _ := call(t, 0, "stat", write(t, "two.jsonl", text+text))
	require.Contains(t, out, "blockbattle: 2 games, ")
	require.Contains(t, out, "steps per game")
	require.Regexp(t, `legal actions: mean \d+\.\d, most \d+\n`, out)
	require.Regexp(t, readSample(t).Agents[0]+` +4 +2 +0 +2 +\+0\.000 `, out)
	out, _ = call(t, 0, "stat", "--quick", "--each", sample, sample)
	require.Equal(t, 2, strings.Count(out, sample+"\nblockbattle: 1 games, "))
	out, _ = call(t, 0, "stat", write(t, "empty", ""))
	require.Equal(t, "no games\n", out)
	refused(t, 1, map[string]string{"stat " + write(t, "odd", "[]"): "odd:1: "})
}

func TestArguments(t *testing.T) {
	out, _ := call(t, 0, "--help")
	for _, word := range []string{"check", "view", "stat", "conform"} {
		require.Contains(t, out, word)
		text, _ := call(t, 0, word, "--help")
		require.Contains(t, text, "Usage: datasets "+word)
	}
	out, _ = call(t, 0, "--version")
	require.Regexp(t, `^\S+ devel \(commit \S+, date \S+, go1\S+, \w+/\w+\)\n$`, out)
	refused(t, 2, map[string]string{
		"": "Usage: datasets <command>", "juggle": "datasets: ", "check": "datasets: ", "view --sideways " + sample: "datasets: ",
	})
}

// run runs a command line and returns the exit status.
func run(args []string, con *program.Console) int {
	return Program().Run(context.Background(), args, con)
}
