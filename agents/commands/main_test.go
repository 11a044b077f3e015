package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
	"blockyard/datasets/record"
	"blockyard/env/envtest"
	"blockyard/env/games"
)

// TestMain lets the tests' own program be this program, for tests that start it and for the bots of agents.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(Main())
	}
	compiletest.Run(m)
}

// own is the path of this program.
func own() string { return envtest.Must(os.Executable()) }

// ends runs a command line, and behind it arguments that may have blanks. It ends with a status. Its output and errors
// are returned.
func ends(t *testing.T, status int, line string, more ...string) (out, errs string) {
	return endsIn(t, t.Context(), status, line, more...)
}

func endsIn(t *testing.T, ctx context.Context, status int, line string, more ...string) (out, errs string) {
	var o, e bytes.Buffer
	args := append(strings.Fields(line), more...)
	got := run(ctx, args, &console{In: strings.NewReader(""), Out: &o, Err: &e})
	require.Equal(t, status, got, "%q: %s%s", args, &o, &e)
	return o.String(), e.String()
}

// succeeds runs a command line without an error and returns its output.
func succeeds(t *testing.T, line string, more ...string) string {
	out, _ := ends(t, 0, line, more...)
	return out
}

// fails runs a command line that ends with a status, says why, and does nothing else.
func fails(t *testing.T, status int, why, line string, more ...string) {
	out, errs := ends(t, status, line, more...)
	require.Empty(t, out, line)
	require.Contains(t, errs, why, line)
}

// misused runs command lines that begin alike: each is wrong, says why, and does nothing else.
func misused(t *testing.T, command string, lines map[string]string) {
	for line, why := range lines {
		fails(t, 2, why, command+line)
	}
}

// A running is a command that runs beside the test.
type running struct {
	out, errs loud
	cancel    context.CancelFunc
	ended     chan int
}

// begin begins a command line, with arguments behind it that may have blanks.
func begin(t *testing.T, in io.Reader, line string, more ...string) *running {
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{cancel: cancel, ended: make(chan int, 1)}
	go func() {
		defer close(r.ended)
		r.ended <- run(ctx, append(strings.Fields(line), more...), &console{In: in, Out: &r.out, Err: &r.errs})
	}()
	t.Cleanup(func() { r.stop(t) })
	return r
}

// stop ends it as Ctrl-C does, and returns its status. The time-out only catches one that goes on.
func (r *running) stop(t *testing.T) int {
	t.Helper()
	r.cancel()
	select {
	case status := <-r.ended:
		return status
	case <-time.After(5 * time.Minute):
		t.Fatal("it does not hear the end of its context")
		return 1
	}
}

// A loud is a buffer for several goroutines.
type loud struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *loud) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *loud) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// await waits until a pattern is found in what was written, and returns that.
func (l *loud) await(t *testing.T, pattern string) (found string) {
	p := regexp.MustCompile(pattern)
	eventually(t, func() bool { found = p.FindString(l.String()); return found != "" })
	return found
}

// eventually waits for what will come. The time-out only catches what never does.
func eventually(t *testing.T, come func() bool) {
	require.Eventually(t, come, 10*time.Minute, 10*time.Millisecond)
}

// present waits for a file.
func present(t *testing.T, path string) {
	eventually(t, func() bool { _, err := os.Stat(path); return err == nil })
}

func read(path string) string { return string(envtest.Must(os.ReadFile(path))) }

// writeFiles writes files of a folder, whose names may have folders.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// decoded is what a command has printed as JSON: one line, without fields that a result does not have.
func decoded[T any](t *testing.T, out string) (result T) {
	require.NotContains(t, strings.TrimSuffix(out, "\n"), "\n")
	in := json.NewDecoder(strings.NewReader(out))
	in.DisallowUnknownFields()
	require.NoError(t, in.Decode(&result), out)
	return result
}

func TestHelp(t *testing.T) {
	for line, want := range map[string]string{
		"--help":                               "(?s)An AGENT is.*arena .*play .*sign ",
		"arena --help":                         "(?s)95 % interval.*--a=AGENT.*--games=400.*--sprt=.*--json",
		"host --help":                          "--seatings",
		"host -qh blockbattle":                 "--timebank", // flags stand before or after the game
		"host --version blockbattle":           "agents devel",
		"host blocking --help":                 "blockbattle, tetrisduel, blocking",
		"host --own-dir --turns 1 dropblox -h": "--own-dir", // with values or without
	} {
		require.Regexp(t, want, succeeds(t, line), line)
	}
	onlyOfTheGame := succeeds(t, "host blocking --help")
	require.NotRegexp(t, `--timebank|--own-dir|\ntetrisduel: `, onlyOfTheGame)
}

func TestBadUsageIsStatus2AndSaysWhy(t *testing.T) {
	misused(t, "", map[string]string{
		"":                                     "Say what the best moves of a recorded game were",
		"arne":                                 "unexpected argument arne",
		"arena blockbattle --a first":          "missing flags: --b=AGENT",
		"arena tetris --a first --b first":     `no game "tetris"; there are blockbattle`,
		"arena blockbattle --a fist --b first": `unknown agent "fist"; blockbattle has`,
		"arena blockbattle --a first --b first --games 3":            "want an even number",
		"arena blockbattle --a first --b first --games 0":            "want an even number",
		"arena blockbattle --a first --b first --workers -1":         "--workers",
		"arena blockbattle --a first --b first --sprt 5":             "want ELO0,ELO1",
		"arena blockbattle --a first --b first --sprt 5,x":           `"x" is not a number`,
		"arena blockbattle --a first --b first --sprt 5,0":           "want the first below the second",
		"play blockbattle --agent first --agent first --agent first": "3 seats, want 2 to 2",
		"play blockbattle --seats 2 -a first -a first -a random":     "3 agents for 2 seats",
		"play blockbattle --agent nobody":                            `unknown agent "nobody"`,
		"arena blockbattle --a first --b first --book-at 0.5":        "--book-at needs --book",
		"tournament blockbattle first random --rounds 3":             "--rounds needs --format=swiss",
		"play blockbattle --agent first --pause 1s":                  "--pause needs --show",
		"play wintetris --agent hand --speed 2":                      "--speed is for a person or --plugin",
		"sign chess":                                                 `no game "chess"`,
		"sign blockbattle --games 0":                                 "want a number from 1",
	})
}

// checked reads a file of records and replays them.
func checked(t *testing.T, path string) []*record.Record {
	r := envtest.Must(record.Open(path))
	defer r.Close()
	var list []*record.Record
	for rec, err := range r.All() {
		require.NoError(t, err)
		require.NoError(t, record.Check(envtest.Must(games.Recorded(rec.Game, rec.Table)), rec))
		list = append(list, rec)
	}
	return list
}

func TestPlayShowsAndRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.jsonl")
	out := succeeds(t, "play blockbattle -a random -a first --seed 4 --show --record "+path)
	envtest.Has(t, out, "round 1  piece ", "seat 2 plays r0 x0")
	list := checked(t, path)
	require.Len(t, list, 1)
	require.Equal(t, len(list[0].Choices)/2+1, strings.Count(out, "player1  "), "every position and the last")
	require.Contains(t, out, "seat 2  score 0  result -1  first\n")

	out = succeeds(t, "play blockbattle -a first --seed 4 --record "+path)
	require.NotContains(t, out, "round")
	require.Len(t, checked(t, path), 2, "appended")
}

func TestCtrlCKeepsTheGameSoFar(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.jsonl")
	out, _ := endsIn(t, envtest.Stopped(t), 0, "play blockbattle -a first --record "+path)
	require.Contains(t, out, "stopped early")
	require.True(t, checked(t, path)[0].Stopped)
}

func TestSignaturesTellPlayersApartAndStay(t *testing.T) {
	lines, hashes := map[string]string{}, map[string]bool{}
	for range 2 {
		for _, name := range []string{"random", "first", "terms6"} {
			line := envtest.Must(signature(t.Context(), games.All[0], name, 1))
			require.Contains(t, []string{"", line}, lines[name], "the same again")
			lines[name] = line
			hashes[line[strings.LastIndexByte(line, ' '):]] = true
		}
	}
	require.Len(t, hashes, 3)
}

func TestAFullDiskIsAnError(t *testing.T) {
	full, out := io.Pipe()
	require.NoError(t, full.CloseWithError(errors.New("disk full")))
	var errs bytes.Buffer
	con := &console{In: strings.NewReader(""), Out: out, Err: &errs}
	require.Equal(t, 1, run(t.Context(), strings.Fields("arena blockbattle --a first --b first --games 2"), con))
	require.Contains(t, errs.String(), "disk full")
}

// run runs a command line and returns the exit status.
func run(ctx context.Context, args []string, con *console) int { return Program().Run(ctx, args, con) }

// TestSearchesHearASignal: commands whose next decision alone would take minutes, or hours, end when their context does,
// as a signal ends it.
func TestSearchesHearASignal(t *testing.T) {
	for _, line := range []string{
		"arena dropblox --a learned:width=20000 --games 1000 -q",
		"play tetrisduel -a hand:ply=6,width=10000 -a first",
		"analyze ../../datasets/games/blockbattle.jsonl --agent hand:ply=4,width=10000 -q",
		"bot blockbattle --agent hand",
		"tune dropblox --with width=20000 -q --out none.json",
	} {
		t.Run(line, func(t *testing.T) {
			silent, in := io.Pipe() // of a contest that says nothing
			defer in.Close()
			r := begin(t, silent, line)
			select {
			case <-r.ended:
				t.Fatalf("it ended by itself: %s%s", &r.out, &r.errs)
			case <-time.After(300 * time.Millisecond):
			}
			r.stop(t)
		})
	}
}
