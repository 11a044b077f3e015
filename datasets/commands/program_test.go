package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
	"blockyard/datasets/program/ops/opstest"
	"blockyard/datasets/program/web/webtest"
	"blockyard/datasets/record"
	"blockyard/datasets/record/jsonl"
	"blockyard/datasets/record/playback"
	"blockyard/datasets/viewer"
	"blockyard/env/envtest"
	"blockyard/env/games"
)

const sample = "../games/blockbattle.jsonl"

// call runs a command line, which ends with a status, and returns its output and errors.
func call(t *testing.T, status int, args ...string) (out, errs string) {
	var o, e bytes.Buffer
	got := run(args, &program.Console{In: strings.NewReader(""), Out: &o, Err: &e})
	require.Equal(t, status, got, "%q: %s%s", args, &o, &e)
	return o.String(), e.String()
}

// refused runs command lines, each of which ends with a status and says why.
func refused(t *testing.T, status int, lines map[string]string) {
	for line, why := range lines {
		_, errs := call(t, status, strings.Fields(line)...)
		require.Contains(t, errs, why, line)
	}
}

func read(path string) string { return string(envtest.Must(os.ReadFile(path))) }

// records writes records to a new file.
func records(t *testing.T, path string, all ...*record.Record) string {
	for _, rec := range all {
		require.NoError(t, record.AppendTo(path, rec))
	}
	return path
}

// readSample reads the record of the sample.
func readSample(t *testing.T) *record.Record {
	rec, _ := envtest.Must2(viewer.ReadGame(t.Context(), sample, 1, jsonl.MaxBytes))
	return rec
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

	text := read(sample)
	half := envtest.File(t, "half.jsonl", text+text[:len(text)/2])
	out, errs = call(t, 1, "check", half, sample)
	require.Contains(t, errs, half+":2: the file ends in the middle of a line")
	require.Contains(t, out, sample+": 1 games, 0 differ\n", "the other files are still checked")
	out, _ = call(t, 0, "check", "--allow-partial", half)
	require.Contains(t, out, "1 games, 0 differ")
	call(t, 0, "repair", half)
	call(t, 0, "check", half)
	refused(t, 1, map[string]string{
		"repair none.jsonl": "no such file", "check none.jsonl": "no such file",
		"check " + envtest.File(t, "odd.jsonl", "{}\n"): "odd.jsonl:1: invalid record: game is empty, want a name",
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

	in := envtest.Closing(t, envtest.Must(jsonl.Open(given[2])))
	var lines []string
	for line := range in.All() {
		lines = append(lines, string(line)+"\n")
	}
	lines[1] = strings.Replace(lines[1], `"gain":0`, `"gain":7`, 1)
	file := envtest.File(t, "port.txt", strings.Join(lines, ""))
	out, _ = call(t, 1, "conform", "blockbattle", file, given[0])
	envtest.Has(t, out, "6 games, ", " values compared, 1 differ\n"+file+":2: game ",
		", round 1, player1, gain\n  recorded: 7\n  replayed: 0\n  piece ", given[0]+": 10 games")

	lines[3] = "{broken\n"
	out, errs = call(t, 1, "conform", "blockbattle", envtest.File(t, "broken", strings.Join(lines, "")))
	require.Contains(t, errs, "broken:4: malformed record: ")
	require.Contains(t, out, "broken: 3 games, ")
	refused(t, 1, map[string]string{
		"conform chess " + file: `no checker for transcripts of "chess", want one of blockbattle`,
	})
}

func TestStat(t *testing.T) {
	text := read(sample)
	out, _ := call(t, 0, "stat", envtest.File(t, "two.jsonl", text+text))
	envtest.Has(t, out, "blockbattle: 2 games, ", "steps per game")
	require.Regexp(t, `legal actions: mean \d+\.\d, most \d+\n`, out)
	require.Regexp(t, readSample(t).Agents[0]+` +4 +2 +0 +2 +\+0\.000 `, out)
	out, _ = call(t, 0, "stat", "--quick", "--each", sample, sample)
	require.Equal(t, 2, strings.Count(out, sample+"\nblockbattle: 1 games, "))
	out, _ = call(t, 0, "stat", envtest.File(t, "empty", ""))
	require.Equal(t, "no games\n", out)
	refused(t, 1, map[string]string{"stat " + envtest.File(t, "odd", "[]"): "odd:1: "})
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

// timelineOf replays a record.
func timelineOf(t *testing.T, rec *record.Record) *playback.Timeline {
	return envtest.Must(playback.Whole(t.Context(), envtest.Must(games.Lookup(rec.Game)), rec))
}

func TestViewPrintsEveryPosition(t *testing.T) {
	rec := readSample(t)
	out, _ := call(t, 0, "view", sample+"#1")
	steps := len(rec.Choices) / 2
	require.Equal(t, steps+1, strings.Count(out, "  turn "))
	require.Contains(t, out, fmt.Sprintf("turn %d of %d", steps, steps))
	require.Contains(t, out, fmt.Sprintf("score %d, result %+g", rec.Scores[0], rec.Results[0]))
	require.NotContains(t, out, "\x1b")
	require.Contains(t, out, "plays "+envtest.Must(games.Lookup(rec.Game)).Text(rec.Choices[0])+"\n")

	tail, _ := call(t, 0, "view", "--from", fmt.Sprint(steps), sample)
	require.Equal(t, 1, strings.Count(tail, "  turn "))
	require.True(t, strings.HasSuffix(out, tail))
}

// What cannot be shown says so; of what is no record, also how to get one.
func TestViewErrors(t *testing.T) {
	text := read(sample)
	odd := envtest.File(t, "odd", strings.Replace(text, `"game":"blockbattle"`, `"game":"chess"`, 1))
	log, cut := envtest.File(t, "game.txt", "player1 is random\n"), envtest.File(t, "game-001.log", "player1 is random\n")
	history := filepath.Join(t.TempDir(), "0_1600000000")
	played(t, history)
	refused(t, 1, map[string]string{
		"view " + sample + "#2": "../games/blockbattle.jsonl: no game 2, the file has 1",
		"view " + sample + "#x": "want the number of a game",
		"view " + sample + "#0": "want the number of a game",
		"view none#1":           "no such file",
		"view " + odd:           `no game "chess"`,
		"view ../games":         "../games: no history folder here or below",
		"view " + log:           "game.txt:1: invalid character 'p'",
		"view " + cut:           "game-001.log: this log does not end with the record of its game",
		"view " + filepath.Join(history, "state0"):  "is a part of the history folder " + history + ": name the folder",
		"view " + history + "#2":                    "a history folder has one game",
		"check " + log:                              "--record FILE",
		"check " + history:                          "is a folder",
		"check " + filepath.Join(history, "state0"): "--record FILE",

		"view --html " + filepath.Join(t.TempDir(), "x") + " " + sample + "#2": "no game 2",
		"view --web none.jsonl":                               "no such file",
		"view --web -":                                        "standard input cannot be shown",
		"view --web --listen 1.2.3.4.5:1 " + sample:           "listen tcp",
		"view --web --from 3 " + sample + " " + sample + "#1": "--from with several games",
		"view " + sample + " " + sample:                       "the terminal viewer shows one game",
	})
	refused(t, 2, map[string]string{
		"view --open":            "--open needs --web",
		"view --live here:1":     "--live needs --web",
		"view --html x --web":    "--web and --html can't be used together",
		"view --token x --web":   "--token needs --live",
		"view --listen here:1 -": "--listen needs --web",
	})
	// A record that does not hold is shown as far as it goes, and complained about.
	out, errs := call(t, 1, "view", envtest.File(t, "odd", strings.Replace(text, `"scores":[`, `"scores":[7`, 1)))
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
	r := timelineOf(t, readSample(t))
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
	var texts map[string]string
	file := envtest.Must(jsonl.Open("../viewer/testdata/history.json.gz"))
	require.NoError(t, json.Unmarshal(envtest.Must(file.Next()), &texts))
	require.NoError(t, file.Close())
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
	out, errs := call(t, 0, "view", old)
	require.Empty(t, errs)
	require.Equal(t, 3, strings.Count(out, "  turn "), out)
	envtest.Has(t, out, "0_1600000000  dropblox  dropblox_ai  turn 2 of 2\n", "next 5")
	require.Regexp(t, `\(dropblox_ai\): score 0, plays \d+ \d+ \d`, out)
	last, _ := call(t, 0, "view", old, "--from", "2")
	require.True(t, strings.HasSuffix(out, last))

	newest, errs := call(t, 0, "view", filepath.Join(dir, "history"))
	require.Equal(t, "showing "+late+", the newest in "+filepath.Join(dir, "history")+"\n", errs)
	require.Contains(t, newest, "0_1700000000  dropblox")

	require.NoError(t, os.WriteFile(filepath.Join(late, "state1"), []byte("{"), 0o644))
	before := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(late, before, before))
	out, errs = call(t, 1, "view", late)
	require.Equal(t, 1, strings.Count(out, "  turn "))
	require.Contains(t, errs, "state1")

	page := filepath.Join(dir, "page.html")
	call(t, 0, "view", old, "--html", page)
	require.FileExists(t, page)
}

// TestViewShowsWhatIsNewestHere: without an argument.
func TestViewShowsWhatIsNewestHere(t *testing.T) {
	root, aside := t.TempDir(), t.TempDir()
	played(t, filepath.Join(aside, "history", "0_1600000000"))
	t.Chdir(root)
	refused(t, 1, map[string]string{"view --web": "neither a folder history nor a file *.jsonl"})

	text := `{"game":"blocking","rules":1,"seed":"1","seats":2,"agents":["a","b"],"choices":[],"scores":[0,0],` +
		`"results":[0,0],"stopped":true}` + "\n"
	require.NoError(t, os.MkdirAll("deep/.hidden", 0o755))
	for age, name := range []string{"deep/.hidden/a.jsonl", "deep/new.jsonl", "old.jsonl", "notes.txt"} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		at := time.Now().Add(-time.Duration(age) * time.Hour)
		require.NoError(t, os.Chtimes(name, at, at))
	}
	require.NoError(t, os.WriteFile("deep/journal.jsonl", []byte(`{"game":"blocking","seats":[0,1]}`+"\n"), 0o644))
	out, errs := call(t, 0, "view")
	require.Equal(t, "showing deep/new.jsonl, the newest here\n", errs, "the journal is newer, but no record")
	require.Contains(t, out, "deep/new.jsonl#1  blocking  a – b  turn 0 of 0")

	require.NoError(t, os.Rename(filepath.Join(aside, "history"), "history"))
	out, errs = call(t, 0, "view")
	require.Equal(t, "showing history, the newest here\nshowing history/0_1600000000, the newest in history\n", errs)
	require.Contains(t, out, "history/0_1600000000  dropblox  dropblox_ai  turn 2 of 2\n")
}

// Names in a foreign record, and the name of its file, do nothing to the terminal, whichever command shows them.
func TestForeignNames(t *testing.T) {
	rec := readSample(t)
	for name, text := range envtest.Hostile {
		rec.Agents = []string{text, "exec:" + text}
		file := filepath.Join(t.TempDir(), strings.ReplaceAll(text, "/", "|")+"x.jsonl")
		if strings.Contains(file, "\x00") || !utf8.ValidString(file) {
			file = envtest.File(t, "x.jsonl", "")
		}
		records(t, file, rec)
		broken := envtest.File(t, "broken.jsonl", `{"game":`+strconv.Quote("x")+`,"agents":[`+text+"\n")
		for _, command := range []string{"view", "stat", "check"} {
			out, errs := call(t, 0, command, file)
			if name != "another line" || command != "check" { // it begins a line with the name that the user has typed
				envtest.Harmless(t, out+errs)
			}
			out, errs = call(t, 1, command, broken)
			envtest.Harmless(t, out+errs)
		}
		var out strings.Builder
		v := &screen{timeline: timelineOf(t, rec), name: file, colour: true}
		require.NoError(t, v.browse(&keys{"q"}, program.Raw(&out)))
		own := regexp.MustCompile(`\x1b\[([0-9;]*m|H|2J)|\r\n`)
		envtest.Harmless(t, own.ReplaceAllString(strings.TrimPrefix(out.String(), clearScreen), "\n"))
		require.NotContains(t, out.String()[len(clearScreen):], clearScreen)
		require.NotContains(t, out.String(), "\x1b[31m")
	}
}

// The address that is printed leads to the page; an interrupt ends the program cleanly.
func TestViewWeb(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM")
	}
	in, out := io.Pipe()
	status := make(chan int)
	go func() {
		args := []string{"view", "--web", sample + "#1", "--from", "7"}
		status <- run(args, &program.Console{In: strings.NewReader(""), Out: out, Err: io.Discard})
	}()
	line := envtest.Must(bufio.NewReader(in).ReadString('\n'))
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/#blockbattle\.jsonl:1/7\n$`, line)
	address, _, _ := strings.Cut(line, "#")
	webtest.Refuses(t, strings.Trim(address, "htp:/"), "/", http.StatusOK)
	_, page := opstest.Get(t, address)
	require.Contains(t, page, "Blockyard replays")
	require.NoError(t, envtest.Must(os.FindProcess(os.Getpid())).Signal(syscall.SIGTERM))
	require.Zero(t, <-status, "an interrupt ends it")
}
