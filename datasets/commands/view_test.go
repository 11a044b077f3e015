package commands

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"blockyard/datasets/program"
	"blockyard/datasets/record"
	"blockyard/datasets/record/jsonl"
	"blockyard/datasets/record/playback"
	"blockyard/datasets/viewer"
	"blockyard/env/envtest"
	"blockyard/env/games"

	"github.com/stretchr/testify/require"
)

func TestViewPrintsEveryPosition(t *testing.T) {
	rec, _, err := viewer.ReadGame(t.Context(), sample, 1, jsonl.MaxBytes)
	require.NoError(t, err)
	status, out, errs := call("view", sample+"#1")
	require.Zero(t, status, errs)
	steps := len(rec.Choices) / 2
	require.Equal(t, steps+1, strings.Count(out, "  turn "))
	require.Contains(t, out, fmt.Sprintf("turn %d of %d", steps, steps))
	require.Contains(t, out, fmt.Sprintf("score %d, result %+g", rec.Scores[0], rec.Results[0]))
	require.NotContains(t, out, "\x1b")
	g, err := games.Lookup(rec.Game)
	require.NoError(t, err)
	require.Contains(t, out, "plays "+g.Text(rec.Choices[0])+"\n")

	_, tail, _ := call("view", "--from", fmt.Sprint(steps), sample)
	require.Equal(t, 1, strings.Count(tail, "  turn "))
	require.True(t, strings.HasSuffix(out, tail))
}

func TestViewErrors(t *testing.T) {
	for arg, want := range map[string]string{
		sample + "#2": "../games/blockbattle.jsonl: no game 2, the file has 1",
		sample + "#x": "want the number of a game",
		sample + "#0": "want the number of a game",
		"none#1":      "no such file",
	} {
		status, _, errs := call("view", arg)
		require.Equal(t, 1, status)
		require.Contains(t, errs, want)
	}
	text, err := os.ReadFile(sample)
	require.NoError(t, err)
	odd := strings.Replace(string(text), `"game":"blockbattle"`, `"game":"chess"`, 1)
	_, _, errs := call("view", write(t, "odd", odd))
	require.Contains(t, errs, `no game "chess"`)
	// A record that does not hold is shown as far as it goes, and complained about.
	odd = strings.Replace(string(text), `"scores":[`, `"scores":[7`, 1)
	status, out, errs := call("view", write(t, "odd", odd))
	require.Equal(t, 1, status)
	require.Contains(t, out, "the record does not replay: the replayed game differs from the record: scores")
	require.Contains(t, errs, "differs from the record")
}

// keys gives one key a read, as a terminal does.
type keys []string

func (k *keys) Read(p []byte) (int, error) {
	if len(*k) == 0 {
		return 0, io.EOF
	}
	n := copy(p, (*k)[0])
	*k = (*k)[1:]
	return n, nil
}

func TestBrowseFollowsKeys(t *testing.T) {
	rec, _, err := viewer.ReadGame(t.Context(), sample, 1, jsonl.MaxBytes)
	require.NoError(t, err)
	g, err := games.Lookup(rec.Game)
	require.NoError(t, err)
	r, err := playback.Whole(t.Context(), g, rec)
	require.NoError(t, err)
	end := r.Len() - 1
	var out bytes.Buffer
	v := &screen{timeline: r, name: "x", colour: true}
	pressed := keys{" ", "\x1b[C", "\x1b[D", "\x1b[B", "G", " ", "\x1b[A", "g", "?", "q", " "}
	require.NoError(t, v.browse(&pressed, program.Raw(&out)))
	require.Equal(t, keys{" "}, pressed, "q leaves")
	var at []string
	for _, screen := range strings.Split(out.String(), clearScreen)[1:] {
		require.Contains(t, screen, "\x1b[7;38;5;")
		require.NotRegexp(t, "[^\r]\n", screen)
		require.LessOrEqual(t, strings.Count(screen, "\n"), 23, "it fits a terminal of 24 rows and 80 columns")
		for line := range strings.Lines(regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(screen, "")) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSpace(line)), 80)
		}
		_, rest, _ := strings.Cut(screen, "  turn ")
		n, _, _ := strings.Cut(rest, " of ")
		at = append(at, n)
	}
	last, before := fmt.Sprint(end), fmt.Sprint(end-10)
	require.Equal(t, []string{"0", "1", "2", "1", "11", last, last, before, "0", "0"}, at)
}

// played writes a history folder of three states.
func played(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open("../viewer/testdata/history.json.gz")
	require.NoError(t, err)
	defer f.Close()
	zip, err := gzip.NewReader(f)
	require.NoError(t, err)
	var texts map[string]string
	require.NoError(t, json.NewDecoder(zip).Decode(&texts))
	require.NoError(t, os.MkdirAll(path, 0o755))
	for _, name := range []string{"state0", "move0", "state1", "move1", "state2"} {
		require.Contains(t, texts, name)
		require.NoError(t, os.WriteFile(filepath.Join(path, name), []byte(texts[name]), 0o644))
	}
}

func TestViewShowsAHistoryInTheTerminal(t *testing.T) {
	dir := t.TempDir()
	old, late := filepath.Join(dir, "history", "0_1600000000"), filepath.Join(dir, "history", "0_1700000000")
	played(t, old)
	played(t, late)
	status, out, errs := call("view", old)
	require.Zero(t, status, errs)
	require.Empty(t, errs)
	require.Equal(t, 3, strings.Count(out, "  turn "), out)
	require.Contains(t, out, "0_1600000000  dropblox  dropblox_ai  turn 2 of 2\n")
	require.Contains(t, out, "next 5")
	require.Regexp(t, `\(dropblox_ai\): score 0, plays \d+ \d+ \d`, out)
	_, last, _ := call("view", old, "--from", "2")
	require.True(t, strings.HasSuffix(out, last))

	_, newest, errs := call("view", filepath.Join(dir, "history"))
	require.Equal(t, "showing "+late+", the newest in "+filepath.Join(dir, "history")+"\n", errs)
	require.Contains(t, newest, "0_1700000000  dropblox")

	require.NoError(t, os.WriteFile(filepath.Join(late, "state1"), []byte("{"), 0o644))
	before := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(late, before, before))
	status, out, errs = call("view", late)
	require.Equal(t, 1, status)
	require.Equal(t, 1, strings.Count(out, "  turn "))
	require.Contains(t, errs, "state1")

	page := filepath.Join(dir, "page.html")
	status, _, errs = call("view", old, "--html", page)
	require.Zero(t, status, errs)
	require.FileExists(t, page)
	_, _, errs = call("view", "../games")
	require.Contains(t, errs, "../games: no history folder here or below")
}

// What is no record says so, and how to get one.
func TestViewOfOtherFiles(t *testing.T) {
	log, cut := write(t, "game.txt", "player1 is random\n"), write(t, "game-001.log", "player1 is random\n")
	history := filepath.Join(t.TempDir(), "0_1600000000")
	played(t, history)
	for path, want := range map[string]string{
		log:                              "game.txt:1: invalid character 'p'",
		cut:                              "game-001.log: this log does not end with the record of its game",
		filepath.Join(history, "state0"): "is a part of the history folder " + history + ": name the folder",
		history + "#2":                   "a history folder has one game",
	} {
		status, _, errs := call("view", path)
		require.Equal(t, 1, status)
		require.Contains(t, errs, want)
	}
	for path, want := range map[string]string{
		log: "--record FILE", history: "is a folder", filepath.Join(history, "state0"): "--record FILE",
	} {
		status, _, errs := call("check", path)
		require.Equal(t, 1, status)
		require.Contains(t, errs, want)
	}
}

// TestViewShowsWhatIsNewestHere: without an argument.
func TestViewShowsWhatIsNewestHere(t *testing.T) {
	root, aside := t.TempDir(), t.TempDir()
	played(t, filepath.Join(aside, "history", "0_1600000000"))
	t.Chdir(root)
	status, _, errs := call("view", "--web")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "neither a folder history nor a file *.jsonl")

	text := `{"game":"blocking","rules":1,"seed":"1","seats":2,"agents":["a","b"],"choices":[],"scores":[0,0],` +
		`"results":[0,0],"stopped":true}` + "\n"
	require.NoError(t, os.MkdirAll("deep/.hidden", 0o755))
	for age, name := range []string{"deep/.hidden/a.jsonl", "deep/new.jsonl", "old.jsonl", "notes.txt"} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		at := time.Now().Add(-time.Duration(age) * time.Hour)
		require.NoError(t, os.Chtimes(name, at, at))
	}
	require.NoError(t, os.WriteFile("deep/journal.jsonl", []byte(`{"game":"blocking","seats":[0,1]}`+"\n"), 0o644))
	status, out, errs := call("view")
	require.Zero(t, status, errs)
	require.Equal(t, "showing deep/new.jsonl, the newest here\n", errs, "the journal is newer, but no record")
	require.Contains(t, out, "deep/new.jsonl#1  blocking  a – b  turn 0 of 0")

	require.NoError(t, os.Rename(filepath.Join(aside, "history"), "history"))
	status, out, errs = call("view")
	require.Zero(t, status, errs)
	require.Equal(t, "showing history, the newest here\nshowing history/0_1600000000, the newest in history\n", errs)
	require.Contains(t, out, "history/0_1600000000  dropblox  dropblox_ai  turn 2 of 2\n")
}

// Names in a foreign record, and the name of its file, do nothing to the terminal, whichever command shows them.
func TestForeignNames(t *testing.T) {
	rec, _, err := viewer.ReadGame(t.Context(), sample, 1, jsonl.MaxBytes)
	require.NoError(t, err)
	for name, text := range envtest.Hostile {
		rec.Agents = []string{text, "exec:" + text}
		file := filepath.Join(t.TempDir(), strings.ReplaceAll(text, "/", "|")+"x.jsonl")
		if strings.Contains(file, "\x00") || !utf8.ValidString(file) {
			file = write(t, "x.jsonl", "")
		}
		w, err := record.Create(file)
		require.NoError(t, err)
		require.NoError(t, w.Write(rec))
		require.NoError(t, w.Close())
		for _, command := range []string{"view", "stat", "check"} {
			status, out, errs := call(command, file)
			require.Zero(t, status, "%s: %s: %s", name, command, errs)
			if name == "another line" && command == "check" {
				continue // it begins a line with the name that the user has typed
			}
			envtest.Harmless(t, out+errs)
		}
		game, err := games.Lookup(rec.Game)
		require.NoError(t, err)
		timeline, err := playback.Whole(t.Context(), game, rec)
		require.NoError(t, err)
		var out strings.Builder
		v := &screen{timeline: timeline, name: file, colour: true}
		require.NoError(t, v.browse(&keys{"q"}, program.Raw(&out)))
		own := regexp.MustCompile(`\x1b\[([0-9;]*m|H|2J)|\r\n`)
		envtest.Harmless(t, own.ReplaceAllString(strings.TrimPrefix(out.String(), clearScreen), "\n"))
		require.NotContains(t, out.String()[len(clearScreen):], clearScreen)
		require.NotContains(t, out.String(), "\x1b[31m")

		broken := write(t, "broken.jsonl", `{"game":`+strconv.Quote("x")+`,"agents":[`+text+"\n")
		for _, command := range []string{"view", "stat", "check"} {
			_, out, errs := call(command, broken)
			envtest.Harmless(t, out+errs)
		}
	}
}
