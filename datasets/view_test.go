package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"blockyard/datasets/playback"
	"blockyard/env/games"

	"github.com/stretchr/testify/require"
)

func TestViewPrintsEveryPosition(t *testing.T) {
	rec, err := find(sample, 1)
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
		sample + "#2": "games/blockbattle.jsonl: no game 2, want 1 to 1",
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
	rec, err := find(sample, 1)
	require.NoError(t, err)
	g, err := games.Lookup(rec.Game)
	require.NoError(t, err)
	r, err := playback.Whole(g, rec)
	require.NoError(t, err)
	end := r.Len() - 1
	var out bytes.Buffer
	v := &screen{reel: r, name: "x", colour: true}
	pressed := keys{" ", "\x1b[C", "\x1b[D", "\x1b[B", "G", " ", "\x1b[A", "g", "?", "q", " "}
	require.NoError(t, v.browse(&pressed, rawLines{&out}))
	require.Equal(t, keys{" "}, pressed, "q leaves")
	var at []string
	for _, screen := range strings.Split(out.String(), clearScreen)[1:] {
		require.Contains(t, screen, "\x1b[7;38;5;")
		require.NotRegexp(t, "[^\r]\n", screen)
		_, rest, _ := strings.Cut(screen, "  turn ")
		n, _, _ := strings.Cut(rest, " of ")
		at = append(at, n)
	}
	last, before := fmt.Sprint(end), fmt.Sprint(end-10)
	require.Equal(t, []string{"0", "1", "2", "1", "11", last, last, before, "0", "0"}, at)
}
