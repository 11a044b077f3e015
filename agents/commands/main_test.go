package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/compile/compiletest"
	"blockyard/datasets/record"
	"blockyard/env/games"
)

// TestMain lets the tests' own program be the bot of an agent.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "bot" {
		os.Exit(Main())
	}
	compiletest.Run(m)
}

// agents runs a command line and returns its status, output and errors.
func agents(ctx context.Context, line string) (int, string, string) {
	return command(ctx, strings.Fields(line)...)
}

// command is agents for arguments that may have blanks.
func command(ctx context.Context, args ...string) (int, string, string) {
	var out, errs bytes.Buffer
	status := run(ctx, args, &console{In: strings.NewReader(""), Out: &out, Err: &errs})
	return status, out.String(), errs.String()
}

// succeeds runs a command line without an error and returns its output.
func succeeds(t *testing.T, line string) string {
	t.Helper()
	status, out, errs := agents(t.Context(), line)
	require.Zero(t, status, line+errs)
	return out
}

// fails runs a command line that ends with a status and says why.
func fails(t *testing.T, line string, status int, why string) {
	t.Helper()
	got, _, errs := agents(t.Context(), line)
	require.Equal(t, status, got, line+errs)
	require.Contains(t, errs, why)
}

// misused runs command lines that begin alike: each is wrong, says why, and does nothing else.
func misused(t *testing.T, command string, lines map[string]string) {
	t.Helper()
	for line, want := range lines {
		status, out, errs := agents(t.Context(), command+line)
		require.Equal(t, 2, status, line+errs)
		require.Empty(t, out, line)
		require.Contains(t, errs, want, line)
	}
}

// decoded is what a command has printed as JSON.
func decoded[T any](t *testing.T, out string) (result T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(out), &result), out)
	return result
}

func TestHelpNamesEveryCommand(t *testing.T) {
	status, out, _ := agents(context.Background(), "--help")
	require.Zero(t, status)
	for _, want := range []string{"An AGENT is", "arena ", "play ", "sign "} {
		require.Contains(t, out, want)
	}
	status, out, _ = agents(context.Background(), "arena --help")
	require.Zero(t, status)
	for _, want := range []string{"--a=AGENT", "--sprt=", "--json", "95 % interval", "--games=400"} {
		require.Contains(t, out, want)
	}
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
		"arena blockbattle --a first --b first --sprt 0,5,0.05,0.7":  "alpha 0.05 and beta 0.7",
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
	t.Helper()
	r, err := record.Open(path)
	require.NoError(t, err)
	defer r.Close()
	var list []*record.Record
	for rec, err := range r.All() {
		require.NoError(t, err)
		g, err := games.Recorded(rec.Game, rec.Table)
		require.NoError(t, err)
		require.NoError(t, record.Check(g, rec))
		list = append(list, rec)
	}
	return list
}

func TestPlayShowsAndRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.jsonl")
	out := succeeds(t, "play blockbattle -a random -a first --seed 4 --show --record "+path)
	require.Contains(t, out, "round 1  piece ")
	require.Contains(t, out, "seat 2 plays r0 x0")
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
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	status, out, _ := agents(ctx, "play blockbattle -a first --record "+path)
	require.Zero(t, status)
	require.Contains(t, out, "stopped early")
	require.True(t, checked(t, path)[0].Stopped)
}

func TestSignaturesTellPlayersApartAndStay(t *testing.T) {
	var lines []string
	for range 2 {
		var b bytes.Buffer
		for _, name := range []string{"random", "first", "terms6"} {
			line, err := signature(context.Background(), games.All[0], name, 1)
			require.NoError(t, err)
			b.WriteString(line)
		}
		lines = append(lines, b.String())
	}
	require.Equal(t, lines[0], lines[1])
	hashes := map[string]bool{}
	for _, l := range strings.Split(strings.TrimSpace(lines[0]), "\n") {
		fields := strings.Fields(l)
		hashes[fields[len(fields)-1]] = true
	}
	require.Len(t, hashes, 3)
}

func TestAFullDiskIsAnError(t *testing.T) {
	var errs bytes.Buffer
	con := &console{In: strings.NewReader(""), Out: broken{}, Err: &errs}
	require.Equal(t, 1, run(context.Background(), strings.Fields("arena blockbattle --a first --b first --games 2"), con))
	require.Contains(t, errs.String(), "disk full")
}

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// run runs a command line and returns the exit status.
func run(ctx context.Context, args []string, con *console) int {
	return Program().Run(ctx, args, con)
}
