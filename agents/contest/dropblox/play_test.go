//go:build unix

package dropblox

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest"
	"blockyard/env/dropblox"
)

// script makes an executable shell script that runs in a folder of its own.
func script(t *testing.T, text string) *Program {
	t.Helper()
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
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".json.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var o original
	require.NoError(t, json.NewDecoder(z).Decode(&o))
	return &o
}

// program is one that says what was said in the game.
func (o *original) program(t *testing.T) *Program {
	t.Helper()
	p := script(t, `read -r n <turn; cat said$n; echo $((n+1)) >turn; [ $# = 2 ]`)
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "turn"), []byte("0\n"), 0o600))
	for k, text := range o.Said {
		require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "said"+strconv.Itoa(k)), []byte(text), 0o600))
	}
	return p
}

// files reads a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(text)
	}
	return out
}

// A program that says what was said in a game of the original client makes the same files,
// byte for byte.
func TestHistoryOfTheOriginal(t *testing.T) {
	for _, name := range []string{"clean", "noisy"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := readOriginal(t, name)
			p := o.program(t)
			game, err := NewLocal(strconv.Itoa(o.Seed), time.Hour)
			require.NoError(t, err)
			rec, err := Record(game, strconv.Itoa(o.Seed), "x")
			require.NoError(t, err)
			folder, err := CreateFolder(t.TempDir(), Meta{ID: "0", Started: game.Began}, nil)
			require.NoError(t, err)
			var out bytes.Buffer
			player := Player{Program: p, Game: game, History: folder, Console: &Console{W: &out}, Margin: Margin}
			r, err := player.Play(t.Context())
			require.NoError(t, err)
			require.Equal(t, Result{o.Result, o.Turns, Blocked, r.Used, r.Longest, r.Left}, r)
			got := files(t, folder.Path)
			require.Contains(t, got["meta"], fmt.Sprintf(`"turns":%d,"score":%d,"reason":"blocked"`, o.Turns, o.Result))
			delete(got, "meta")
			require.Equal(t, o.Files, got)

			(&Console{W: &out}).Results(r)
			for _, want := range []string{
				"Terminating process\ncommands received: [",
				"\ncommands received: []\nmoves_made: 1 score: 0 seconds_remaining: 35",
				fmt.Sprintf("\nGame over! Your score was: %d\nRESULTS: %d\nRESULTS_TIME: %d\n", o.Result, o.Result, o.Time),
			} {
				if name == "clean" || !strings.Contains(want, "[]") {
					require.Contains(t, out.String(), want)
				}
			}
			require.Equal(t, name == "noisy", strings.Contains(out.String(), "INVALID COMMAND: Left\n"))

			kept, err := rec.End(r.Reason)
			require.NoError(t, err)
			require.Len(t, kept.Choices, o.Turns)
			require.Equal(t, []int{o.Result}, kept.Scores)
		})
	}
}

// play plays a game with a script and returns what it came to, its folder and its console.
func play(t *testing.T, text string, clock, margin time.Duration) (Result, map[string]string, string) {
	t.Helper()
	p := script(t, text)
	game, err := NewLocal("5", clock)
	require.NoError(t, err)
	folder, err := CreateFolder(t.TempDir(), Meta{ID: "0", Started: game.Began}, nil)
	require.NoError(t, err)
	var out bytes.Buffer
	player := Player{Program: p, Game: game, History: folder, Console: &Console{W: &out}, Margin: margin}
	r, err := player.Play(t.Context())
	require.NoError(t, err)
	return r, files(t, folder.Path), out.String()
}

// Told the time less the margin, a program that uses it all is ended in time for its
// commands to count, and no other one is started.
func TestClockWithinTheMargin(t *testing.T) {
	t.Parallel()
	r, got, out := play(t, `echo left; echo "$2"; exec sleep 60`, 12*time.Second, 8*time.Second)
	require.Equal(t, Result{0, 1, Time, r.Used, r.Longest, r.Left}, r)
	require.Len(t, got, 4)
	require.Equal(t, `["left"]`, got["move0"])
	require.Contains(t, got["state1"], `{"state": "failed", `)
	require.NotEqual(t, strings.Replace(got["state0"], "playing", "failed", 1), got["state1"], "the turn was carried out")
	require.Contains(t, got["meta"], `"reason":"time"`)
	said := regexp.MustCompile(`INVALID COMMAND: ([0-4]\.\d+)\n`).FindStringSubmatch(out)
	require.NotNil(t, said, out)
	told, err := time.ParseDuration(said[1] + "s")
	require.NoError(t, err)
	require.GreaterOrEqual(t, r.Longest, told-time.Microsecond, "of which the program is told six digits")
	require.Contains(t, out, "moves_made: 1 score: 0 ")
}

// Commands that come when the clock has run out are thrown away and the board is not
// touched.
func TestClockRunOut(t *testing.T) {
	t.Parallel()
	r, got, out := play(t, `trap '' TERM; echo left; sleep 60`, 5300*time.Millisecond, 300*time.Millisecond)
	require.Equal(t, Result{0, 1, Time, r.Used, r.Longest, r.Left}, r)
	require.Equal(t, `["left"]`, got["move0"])
	require.Equal(t, strings.Replace(got["state0"], "playing", "failed", 1), got["state1"])
	require.NotContains(t, got, "move1")
	require.Contains(t, out, "moves_made: 0 score: 0 ")
}

func TestNoTimeAtAll(t *testing.T) {
	r, got, out := play(t, `touch ran; exit`, time.Millisecond, time.Second)
	require.Equal(t, Result{Reason: Time, Left: r.Left}, r)
	require.Len(t, got, 2)
	require.Contains(t, got["state0"], `"failed"`)
	require.Empty(t, out)
}

func TestTurnLimit(t *testing.T) {
	game, err := NewLocal("5", time.Minute)
	require.NoError(t, err)
	calls := 0
	p := Player{Program: script(t, `echo right`), Game: game, Turns: 3, Each: func(Result) { calls++ }}
	rec, err := Record(game, "5", "x")
	require.NoError(t, err)
	r, err := p.Play(t.Context())
	require.NoError(t, err)
	require.Equal(t, Turns, r.Reason)
	require.Equal(t, 3, r.Turns)
	require.Equal(t, 3, calls)
	kept, err := rec.End(r.Reason)
	require.NoError(t, err)
	require.True(t, kept.Stopped)
	require.Equal(t, "turns", kept.Meta["reason"])
}

func TestPointLimit(t *testing.T) {
	o := readOriginal(t, "noisy")
	game, err := NewLocal(strconv.Itoa(o.Seed), time.Hour)
	require.NoError(t, err)
	r, err := (&Player{Program: o.program(t), Game: game, Points: 10}).Play(t.Context())
	require.NoError(t, err)
	require.Equal(t, Points, r.Reason)
	require.GreaterOrEqual(t, r.Score, 10)
	require.Less(t, r.Score, o.Result)
	require.Less(t, r.Turns, o.Turns)
	require.Less(t, r.Left, time.Hour)
}

// A game that is stopped leaves whole files: the last state without a move.
func TestStop(t *testing.T) {
	game, err := NewLocal("123456789012345678901234567890", time.Minute)
	require.NoError(t, err)
	folder, err := CreateFolder(t.TempDir(), Meta{ID: "0", Started: game.Began}, nil)
	require.NoError(t, err)
	rec, err := Record(game, "123456789012345678901234567890", "x")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	program := script(t, `if [ -e second ]; then touch third; sleep 600; fi; touch second; echo left`)
	p := Player{Program: program, Game: game, History: folder}
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
	r, err := p.Play(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, time.Since(before), 5*time.Minute)
	require.Equal(t, Stopped, r.Reason)
	require.Equal(t, 1, r.Turns)
	got := files(t, folder.Path)
	require.Len(t, got, 4, "two states, a move, meta")
	require.Contains(t, got["state1"], `"playing"`)
	require.Contains(t, got["meta"], `"turns":1,"score":0,"reason":"stopped"`)
	kept, err := rec.End(r.Reason)
	require.NoError(t, err)
	require.NotEmpty(t, kept.Start, "the seed is too large for a record's")
	require.Len(t, kept.Choices, 1)
}

func TestProgramThatIsGone(t *testing.T) {
	game, err := NewLocal("5", time.Minute)
	require.NoError(t, err)
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
