//go:build unix

package dropblox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/datasets/record"
	"blockyard/datasets/record/jsonl"
	"blockyard/env/dropblox"
	"blockyard/env/envtest"
)

// script makes an executable shell script that runs in a folder of its own.
func script(t *testing.T, text string) *Program {
	path := filepath.Join(t.TempDir(), "dropblox_ai")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	// The shell reads the file: a process that another test has just forked may hold it open for writing, so that
	// the kernel would not execute it.
	return &Program{Program: contest.Program{Argv: []string{"sh", path}, Dir: filepath.Dir(path), Cage: contest.Trusted}, Name: path}
}

// An original is a game of the original client, file by file.
type original struct {
	Seed   int
	Turns  int
	Result int
	Time   int      `json:"result_time"`
	Said   []string `json:"ai_stdout"`
	Files  map[string]string
}

func readOriginal(t *testing.T, name string) *original {
	f := envtest.Closing(t, envtest.Must(jsonl.Open(filepath.Join("testdata", name+".json.gz"))))
	o := new(original)
	require.NoError(t, json.Unmarshal(envtest.Must(f.Next()), o))
	return o
}

// program is one that says what was said in the game.
func (o *original) program(t *testing.T) *Program {
	p := script(t, `read -r n <turn; cat said$n; echo $((n+1)) >turn; [ $# = 2 ]`)
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "turn"), []byte("0\n"), 0o600))
	for k, text := range o.Said {
		require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "said"+strconv.Itoa(k)), []byte(text), 0o600))
	}
	return p
}

// A played is what became of a game.
type played struct {
	Result
	err   error
	files map[string]string
	said  string // by the console
	kept  *record.Record
}

// play plays the game of a seed, with a history, a record and a console.
func play(ctx context.Context, t *testing.T, p Player, seed string, clock time.Duration) (g played) {
	game := envtest.Must(NewLocal(seed, clock))
	rec := envtest.Must(Record(game, seed, "x"))
	p.Game = game
	p.History = envtest.Must(CreateFolder(t.TempDir(), Meta{ID: "0", Started: game.Began}, nil))
	var out bytes.Buffer
	p.Console = &Console{W: &out}
	g.Result, g.err = p.Play(ctx)
	require.ErrorIs(t, g.err, ctx.Err()) // nil, but if the game was stopped
	g.files, g.said = files(p.History.Path), out.String()
	g.kept = envtest.Must(rec.End(g.Reason))
	return g
}

// A program that says what was said in a game of the original client makes the same files,
// byte for byte.
func TestHistoryOfTheOriginal(t *testing.T) {
	for _, name := range []string{"clean", "noisy"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := readOriginal(t, name)
			g := play(t.Context(), t, Player{Program: o.program(t), Margin: Margin}, strconv.Itoa(o.Seed), time.Hour)
			require.Equal(t, Result{o.Result, o.Turns, Blocked, g.Used, g.Longest, g.Left}, g.Result)
			require.Contains(t, g.files["meta"], fmt.Sprintf(`"turns":%d,"score":%d,"reason":"blocked"`, o.Turns, o.Result))
			delete(g.files, "meta")
			require.Equal(t, o.Files, g.files)

			var out bytes.Buffer
			(&Console{W: &out}).Results(g.Result)
			require.Equal(t, fmt.Sprintf("Game over! Your score was: %d\nRESULTS: %d\nRESULTS_TIME: %d\n", o.Result, o.Result, o.Time), out.String())
			require.Contains(t, g.said, "Terminating process\ncommands received: [")
			if name == "clean" {
				require.Contains(t, g.said, "\ncommands received: []\nmoves_made: 1 score: 0 seconds_remaining: 35")
			}
			require.Equal(t, name == "noisy", strings.Contains(g.said, "INVALID COMMAND: Left\n"))
			require.Len(t, g.kept.Choices, o.Turns)
			require.Equal(t, []int{o.Result}, g.kept.Scores)
		})
	}
}

// Told the time less the margin, a program that uses it all is ended in time for its
// commands to count, and no other one is started.
func TestClockWithinTheMargin(t *testing.T) {
	t.Parallel()
	p := Player{Program: script(t, `echo left; echo "$2"; exec sleep 60`), Margin: 8 * time.Second}
	g := play(t.Context(), t, p, "5", 12*time.Second)
	require.Equal(t, Result{0, 1, Time, g.Used, g.Longest, g.Left}, g.Result)
	require.Len(t, g.files, 4)
	require.Equal(t, `["left"]`, g.files["move0"])
	require.Contains(t, g.files["state1"], `{"state": "failed", `)
	require.NotEqual(t, strings.Replace(g.files["state0"], "playing", "failed", 1), g.files["state1"], "the turn was carried out")
	require.Contains(t, g.files["meta"], `"reason":"time"`)
	said := regexp.MustCompile(`INVALID COMMAND: ([0-4]\.\d+)\n`).FindStringSubmatch(g.said)
	require.NotNil(t, said, g.said)
	told := envtest.Must(time.ParseDuration(said[1] + "s"))
	require.GreaterOrEqual(t, g.Longest, told-time.Microsecond, "of which the program is told six digits")
	require.Contains(t, g.said, "moves_made: 1 score: 0 ")
}

// Commands that come when the clock has run out are thrown away and the board is not
// touched.
func TestClockRunOut(t *testing.T) {
	t.Parallel()
	p := Player{Program: script(t, `trap '' TERM; echo left; sleep 60`), Margin: 300 * time.Millisecond}
	g := play(t.Context(), t, p, "5", 5300*time.Millisecond)
	require.Equal(t, Result{0, 1, Time, g.Used, g.Longest, g.Left}, g.Result)
	require.Equal(t, `["left"]`, g.files["move0"])
	require.Equal(t, strings.Replace(g.files["state0"], "playing", "failed", 1), g.files["state1"])
	require.NotContains(t, g.files, "move1")
	require.Contains(t, g.said, "moves_made: 0 score: 0 ")
}

func TestNoTimeAtAll(t *testing.T) {
	g := play(t.Context(), t, Player{Program: script(t, `touch ran; exit`), Margin: time.Second}, "5", time.Millisecond)
	require.Equal(t, Result{Reason: Time, Left: g.Left}, g.Result)
	require.Len(t, g.files, 2)
	require.Contains(t, g.files["state0"], `"failed"`)
	require.Empty(t, g.said)
}

func TestTurnLimit(t *testing.T) {
	calls := 0
	p := Player{Program: script(t, `echo right`), Turns: 3, Each: func(Result) { calls++ }}
	g := play(t.Context(), t, p, "5", time.Minute)
	require.Equal(t, Turns, g.Reason)
	require.Equal(t, []int{3, 3}, []int{g.Turns, calls})
	require.True(t, g.kept.Stopped)
	require.Equal(t, "turns", g.kept.Meta["reason"])
}

// TestLogIsBounded: what a program says beside its commands, and how many it gives, does not fill a disk.
func TestLogIsBounded(t *testing.T) {
	var size atomic.Int64 // both outputs are read at a time
	p := script(t, `yes left | head -n 5000; yes | head -n 30000; yes | head -n 30000 >&2`)
	play(t.Context(), t, Player{Program: p, Turns: 8, Log: func(kind contest.Kind, text string) {
		size.Add(int64(len(text) + logged))
		if kind == contest.FromBot {
			require.Regexp(t, "^(left, ){999}left and 4000 more$", text)
		}
	}}, "5", time.Minute)
	require.Greater(t, size.Load(), int64(maxErrors))
	require.Less(t, size.Load(), int64(2*maxErrors+8*20_000))
}

func TestPointLimit(t *testing.T) {
	o := readOriginal(t, "noisy")
	g := play(t.Context(), t, Player{Program: o.program(t), Points: 10}, strconv.Itoa(o.Seed), time.Hour)
	require.Equal(t, Points, g.Reason)
	require.GreaterOrEqual(t, g.Score, 10)
	require.Less(t, g.Score, o.Result)
	require.Less(t, g.Turns, o.Turns)
	require.Less(t, g.Left, time.Hour)
}

// A game that is stopped leaves whole files: the last state without a move.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	program := script(t, `if [ -e second ]; then touch third; sleep 600; fi; touch second; echo left`)
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(program.Dir, "third")); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	before := time.Now()
	g := play(ctx, t, Player{Program: program}, "123456789012345678901234567890", time.Minute)
	require.ErrorIs(t, g.err, context.Canceled)
	require.Less(t, time.Since(before), 5*time.Minute)
	require.Equal(t, Result{0, 1, Stopped, g.Used, g.Longest, g.Left}, g.Result)
	require.Len(t, g.files, 4, "two states, a move, meta")
	require.Contains(t, g.files["state1"], `"playing"`)
	require.Contains(t, g.files["meta"], `"turns":1,"score":0,"reason":"stopped"`)
	require.NotEmpty(t, g.kept.Start, "the seed is too large for a record's")
	require.Len(t, g.kept.Choices, 1)
}

func TestProgramThatIsGone(t *testing.T) {
	game := envtest.Must(NewLocal("5", time.Minute))
	p := script(t, `rm dropblox_ai`)
	p.Argv = p.Argv[1:]
	r, err := (&Player{Program: p, Game: game}).Play(t.Context())
	require.ErrorContains(t, err, "no such file")
	require.Equal(t, Failed, r.Reason)
	require.Equal(t, 1, r.Turns)
}

func TestConsoleColours(t *testing.T) {
	var out bytes.Buffer
	c := &Console{W: &out, Colour: true}
	c.received(Turn{Commands: []dropblox.Command{dropblox.Left, dropblox.Up}})
	const want = "\x1b[31mTerminating process\x1b[0m\n\x1b[36mcommands received: ['left', 'up']\x1b[0m\n"
	require.Equal(t, want, out.String())
}
