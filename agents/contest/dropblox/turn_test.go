//go:build unix

package dropblox

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env/dropblox"
	"blockyard/env/envtest"
)

// spell is a list of commands in words.
func spell(list []dropblox.Command) string { return words(list, " ") }

func TestTurn(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		want    string
		foreign string
	}{
		"nothing":          {`exit 3`, "", ""},
		"carriage returns": {`printf 'left\r\nright\rup\r\r\ndown\r'`, "left right up down", ""},
		"other words": {
			`printf 'Left\nleft\n left\ndrop\nhold\n\nright \nright'`, "left right", "Left, left,drop,hold,,right ",
		},
		"crash":           {`echo left; kill -9 $$`, "left", ""},
		"reads its input": {`read x || echo rotate`, "rotate", ""},
		"standard error":  {`echo left >&2; echo right`, "right", ""},
		"arguments":       {`echo "$#$1"; case $2 in 2[0-9][0-9].[0-9]*) echo up;; esac`, "up", `2{"a": 1}`},
		"half in errors":  {`printf 'le'; sleep 0.05; printf 'ft\nrig'; sleep 0.05; echo ht`, "left right", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := script(t, c.script)
			var foreign []string
			p.Foreign = func(line string) { foreign = append(foreign, line) }
			got := envtest.Must(p.Turn(t.Context(), []byte(`{"a": 1}`), 299*time.Second))
			require.Equal(t, Exited, got.Ending)
			require.Equal(t, c.want, spell(got.Commands))
			require.Equal(t, c.foreign, strings.Join(foreign, ","))
		})
	}
}

func TestStandardErrorIsPassedOn(t *testing.T) {
	p := script(t, `echo "from $1" >&2; head -c 3000000 /dev/zero >&2; echo left`)
	var errs bytes.Buffer
	p.Errors = &errs
	require.Equal(t, "left", spell(envtest.Must(p.Turn(t.Context(), []byte("here"), hang)).Commands))
	require.True(t, strings.HasPrefix(errs.String(), "from here\n"))
	require.Equal(t, maxErrors, errs.Len())
}

// A program that is late keeps what it has said, and what it says on being told to end.
func TestTurnOutOfTime(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   string
		least  time.Duration
	}{
		"sleeps":       {`echo left; exec sleep 600`, "left", 0},
		"farewell":     {`trap 'echo up; exit' TERM; echo left; while :; do sleep 0.01; done`, "left up", 0},
		"will not end": {`trap '' TERM; echo left; while :; do sleep 0.01; done`, "left", Grace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := script(t, c.script)
			var got Turn
			// A busy machine may need longer than the limit to start the program at all.
			for limit := 300 * time.Millisecond; limit < hang && spell(got.Commands) != c.want; limit *= 2 {
				got = envtest.Must(p.Turn(t.Context(), nil, limit))
				require.Equal(t, Late, got.Ending)
				require.GreaterOrEqual(t, got.Elapsed, limit)
			}
			require.Equal(t, c.want, spell(got.Commands))
			require.GreaterOrEqual(t, got.Elapsed, c.least)
		})
	}
}

// hang is long enough for any machine: a test that waits for it has failed.
const hang = time.Minute

// beat is a child that writes to a file as long as it lives.
const beat = `while :; do echo x >>beat; sleep 0.01; done`

// The turn is over when the output is closed, or the program has ended, whatever it left
// behind.
func TestTurnEndsWithOutputOrProgram(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		ending Ending
	}{
		"closes its output":   {`echo left; exec >&-; sleep 600`, Closed},
		"leaves a child":      {beat + ` & while [ ! -s beat ]; do sleep 0.01; done; echo left`, Exited},
		"leaves a deaf child": {`(trap '' TERM; ` + beat + `) & while [ ! -s beat ]; do sleep 0.01; done; echo left`, Exited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := script(t, c.script)
			got := envtest.Must(p.Turn(t.Context(), nil, 10*hang))
			require.Equal(t, c.ending, got.Ending)
			require.Equal(t, "left", spell(got.Commands))
			require.Less(t, got.Elapsed, hang)
			beats := func() string {
				text, _ := os.ReadFile(filepath.Join(p.Dir, "beat")) // missing without a child
				return string(text)
			}
			last := beats()
			require.Eventually(t, func() bool { // a child that was killed may still be writing its last beat
				before := last
				last = beats()
				return before == last
			}, hang, 100*time.Millisecond, "the child still runs")
		})
	}
}

func TestTurnOfAProgramThatFloods(t *testing.T) {
	for name, text := range map[string]string{
		"commands": `yes left`, "lines": `yes lefT`, "a line": `tr '\0' a </dev/zero`,
	} {
		t.Run(name, func(t *testing.T) {
			p := script(t, text)
			shown := 0
			p.Foreign = func(line string) { shown += len(line) + 1 }
			got := envtest.Must(p.Turn(t.Context(), nil, 10*hang))
			require.Equal(t, Flooded, got.Ending)
			require.LessOrEqual(t, shown, maxShown+dropblox.MaxLine+100)
			if name == "commands" {
				require.Len(t, got.Commands, MaxCommands)
			}
		})
	}
}

func TestTurnStops(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	got, err := script(t, `echo left; exec sleep 600`).Turn(ctx, nil, 10*hang)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, Cancelled, got.Ending)
	require.Less(t, got.Elapsed, hang)
	got, err = script(t, `touch ran`).Turn(ctx, nil, 10*hang)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, got.Commands)
}

// Turns leave no open file behind.
func TestTurnsLeaveNothingOpen(t *testing.T) {
	p := script(t, `echo left; sleep 600 >&2 & exit`)
	p.Errors = new(bytes.Buffer)
	count := func() int { return len(envtest.Must(os.ReadDir("/dev/fd"))) }
	envtest.Must(p.Turn(t.Context(), nil, 10*hang))
	before := count()
	for range 3 {
		envtest.Must(p.Turn(t.Context(), nil, 10*hang))
	}
	require.LessOrEqual(t, count(), before)
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("left\nright\r\nup"), 3)
	f.Add([]byte("\r\n\r\r\nx\n"), 1)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		if len(text) > maxShown/2 {
			return
		}
		cut = max(0, min(cut, len(text)))
		var foreign []string
		o := output{foreign: func(s string) { foreign = append(foreign, s) }}
		o.read(io.MultiReader(bytes.NewReader(text[:cut]), bytes.NewReader(text[cut:])))
		commands, others := dropblox.ReadOutput(string(text))
		require.Equal(t, commands, o.commands)
		require.Equal(t, others, foreign)
	})
}
