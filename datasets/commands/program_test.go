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

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

const sample = "../games/blockbattle.jsonl"

// call runs the program.
func call(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = run(args, &program.Console{In: strings.NewReader(""), Out: &o, Err: &e})
	return status, o.String(), e.String()
}

func write(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestVersion(t *testing.T) {
	status, out, errs := call("--version")
	require.Zero(t, status, errs)
	require.Regexp(t, `^\S+ devel \(commit \S+, date \S+, go1\S+, \w+/\w+\)\n$`, out)
}

// Every contest has a recorded game here, and it replays.
func TestRecordedGamesCheck(t *testing.T) {
	for _, g := range games.All {
		if strings.Contains(g.Name, ":") {
			continue
		}
		file := "../games/" + g.Name + ".jsonl"
		status, out, errs := call("check", file)
		require.Zero(t, status, out+errs)
		require.Regexp(t, `^../games/`+g.Name+`\.jsonl: [1-9]\d* games, 0 differ\n$`, out)
	}
}

func TestCheckReportsDifferences(t *testing.T) {
	text, err := os.ReadFile(sample)
	require.NoError(t, err)
	good := string(text)
	rec, _, err := viewer.ReadGame(t.Context(), sample, 1, jsonl.MaxBytes)
	require.NoError(t, err)
	rec.Scores[0] += 100
	var spoilt bytes.Buffer
	w := record.NewWriter(&spoilt)
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	file := write(t, "games.jsonl", good+spoilt.String()+good+spoilt.String())

	status, out, errs := call("check", file)
	require.Equal(t, 1, status)
	require.Empty(t, errs)
	require.Contains(t, out, file+"#2: the replayed game differs from the record: scores ")
	require.NotContains(t, out, "#4")
	require.Contains(t, out, file+": 4 games, 2 differ\n")
	_, out, _ = call("check", "--all", file)
	require.Contains(t, out, file+"#4: ")

	half := write(t, "half.jsonl", good+good[:len(good)/2])
	status, out, errs = call("check", half, sample)
	require.Equal(t, 1, status)
	require.Contains(t, errs, half+":2: the file ends in the middle of a line")
	require.Contains(t, out, sample+": 1 games, 0 differ\n", "the other files are still checked")
	status, out, _ = call("check", "--allow-partial", half)
	require.Zero(t, status)
	require.Contains(t, out, "1 games, 0 differ")
	status, _, errs = call("repair", half)
	require.Zero(t, status, errs)
	status, out, _ = call("check", half)
	require.Zero(t, status, out)
	status, _, errs = call("repair", filepath.Join(t.TempDir(), "none.jsonl"))
	require.Equal(t, 1, status)
	require.Contains(t, errs, "no such file")

	status, _, errs = call("check", filepath.Join(t.TempDir(), "none.jsonl"))
	require.Equal(t, 1, status)
	require.Contains(t, errs, "no such file")
	status, _, errs = call("check", write(t, "odd.jsonl", "{}\n"))
	require.Equal(t, 1, status)
	require.Contains(t, errs, "odd.jsonl:1: invalid record: game is empty, want a name")
}

func TestConformExitStatusAndFirstDifference(t *testing.T) {
	const dir = "../testdata/blockbattle/"
	given := []string{dir + "classic_games.jsonl.gz", dir + "classic_rounds.jsonl.gz",
		dir + "port_games.jsonl.gz", dir + "protocol_logs.jsonl.gz"}
	status, out, errs := call(append([]string{"conform", "blockbattle"}, given...)...)
	require.Zero(t, status, out+errs)
	require.Empty(t, errs)
	require.Equal(t, 4, strings.Count(out, " values compared, 0 differ\n"))
	require.Equal(t, 4, strings.Count(out, "\n"), "one line a file")

	packed, err := os.Open(given[2])
	require.NoError(t, err)
	defer packed.Close()
	unzip, err := gzip.NewReader(packed)
	require.NoError(t, err)
	var plain bytes.Buffer
	_, err = plain.ReadFrom(unzip)
	require.NoError(t, err)
	lines := strings.SplitAfter(plain.String(), "\n")
	lines[1] = strings.Replace(lines[1], `"gain":0`, `"gain":7`, 1)
	file := write(t, "port.txt", strings.Join(lines, ""))
	status, out, _ = call("conform", "blockbattle", file, given[0])
	require.Equal(t, 1, status)
	require.Contains(t, out, "6 games, ")
	require.Contains(t, out, " values compared, 1 differ\n"+file+":2: game ")
	require.Contains(t, out, ", round 1, player1, gain\n  recorded: 7\n  replayed: 0\n  piece ")
	require.Contains(t, out, given[0]+": 10 games")

	lines[3] = "{broken\n"
	status, out, errs = call("conform", "blockbattle", write(t, "broken", strings.Join(lines, "")))
	require.Equal(t, 1, status)
	require.Contains(t, errs, "broken:4: malformed record: ")
	require.Contains(t, out, "broken: 3 games, ")

	status, _, errs = call("conform", "chess", file)
	require.Equal(t, 1, status)
	require.Contains(t, errs, `no checker for transcripts of "chess", want one of blockbattle`)
}

func TestStat(t *testing.T) {
	text, err := os.ReadFile(sample)
	require.NoError(t, err)
	status, out, errs := call("stat", write(t, "two.jsonl", string(text)+string(text)))
	require.Zero(t, status, errs)
	rec, _, err := viewer.ReadGame(t.Context(), sample, 1, jsonl.MaxBytes)
	require.NoError(t, err)
	require.Contains(t, out, "blockbattle: 2 games, ")
	require.Contains(t, out, "steps per game")
	require.Regexp(t, `legal actions: mean \d+\.\d, most \d+\n`, out)
	require.Regexp(t, rec.Agents[0]+` +4 +2 +0 +2 +\+0\.000 `, out)
	status, out, _ = call("stat", "--quick", "--each", sample, sample)
	require.Zero(t, status)
	require.Equal(t, 2, strings.Count(out, sample+"\nblockbattle: 1 games, "))
	status, _, errs = call("stat", write(t, "odd", "[]"))
	require.Equal(t, 1, status)
	require.Contains(t, errs, "odd:1: ")
	status, out, _ = call("stat", write(t, "empty", ""))
	require.Zero(t, status)
	require.Equal(t, "no games\n", out)
}

func TestArguments(t *testing.T) {
	status, out, _ := call("--help")
	require.Zero(t, status)
	for _, word := range []string{"check", "view", "stat", "conform"} {
		require.Contains(t, out, word)
		status, text, _ := call(word, "--help")
		require.Zero(t, status)
		require.Contains(t, text, "Usage: datasets "+word)
	}
	status, _, errs := call()
	require.Equal(t, 2, status)
	require.Contains(t, errs, "Usage: datasets <command>")
	for _, args := range [][]string{{"juggle"}, {"check"}, {"view", "--sideways", sample}} {
		status, _, errs := call(args...)
		require.Equal(t, 2, status, args)
		require.Contains(t, errs, "datasets: ")
	}
}

// run runs a command line and returns the exit status.
func run(args []string, con *program.Console) int {
	return Program().Run(context.Background(), args, con)
}
