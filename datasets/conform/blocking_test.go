package conform_test

import (
	"fmt"
	"strings"
	"testing"

	"blockyard/datasets/conform"
	"blockyard/datasets/conform/blockinglog"

	"github.com/stretchr/testify/require"
)

// blockingLines returns the lines of a given file.
func blockingLines(t testing.TB, name string) []string {
	t.Helper()
	return lines(t, "../testdata/blocking/"+name)
}

// blockingGameWith returns the lines of the first game of the file that has a line with part.
func blockingGameWith(t testing.TB, part string) []string {
	var out []string
	found := false
	for _, line := range blockingLines(t, "games.jsonl.gz") {
		out = append(out, line)
		found = found || strings.Contains(line, part)
		if strings.Contains(line, `"type":"end"`) {
			if found {
				return out
			}
			out = nil
		}
	}
	require.Fail(t, "no such game", part)
	return nil
}

func TestBlockingGivenFilesConform(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"games.jsonl.gz":      {"game": 6, "end": 6},
		"firstmoves.jsonl.gz": {"opening": 29},
		"orient.json.gz":      {"shape table": 1},
	} {
		rep, err := check(t, blockinglog.New(), blockingLines(t, name))
		require.NoError(t, err)
		require.Zero(t, rep.Differ, rep.First)
		for kind, n := range want {
			require.Equal(t, n, rep.Kinds[kind], "%s: %v", name, rep.Kinds)
		}
	}
}

// Every value that a record documents is compared: altered, it is found.
func TestBlockingEveryAlteredValueIsFound(t *testing.T) {
	a := alteration{
		checker: blockinglog.New,
		spared:  map[string]bool{"type": true, "bots": true}, // not values of the rules
		change:  changeBlocking,
	}
	altered := 0
	for _, text := range [][]string{
		blockingGameWith(t, `"decided"`), blockingGameWith(t, `"elimination"`),
		blockingLines(t, "firstmoves.jsonl.gz")[:5], blockingLines(t, "orient.json.gz"),
	} {
		altered += a.run(t, text)
	}
	require.Greater(t, altered, 250)
}

// changeBlocking makes a value another of its kind.
func changeBlocking(v any) any {
	switch v := v.(type) {
	case string:
		return swapBlocking(v)
	case []any:
		return shuffled(v)
	}
	return v
}

// shuffled changes a list: its first two elements change places, or the only one leaves.
func shuffled(v []any) []any {
	switch {
	case len(v) == 0:
		return []any{"0 0 0 A001"}
	case len(v) == 1, fmt.Sprint(v[0]) == fmt.Sprint(v[1]):
		return v[1:]
	}
	return append([]any{v[1], v[0]}, v[2:]...)
}

// swapBlocking makes a text another of its kind.
func swapBlocking(v string) string {
	switch v {
	case "decided", "elimination":
		return "blocked"
	case "blocked":
		return "decided"
	}
	if strings.HasSuffix(v, "U") {
		return v[:len(v)-1] + "V"
	}
	return v + "1"
}

func TestBlockingMalformedLinesAreErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"{", "malformed record"},
		{"[]", "malformed record"},
		{"{}", `want a "type"`},
		{`{"type":5}`, "malformed record: type"},
		{`{"type":"lap"}`, `want a "type"`},
		{`{"type":"turn","out":""}`, "malformed turn: no game has begun"},
		{`{"type":"skip"}`, "malformed skip: no game has begun"},
		{`{"type":"end"}`, "malformed end: no game has begun"},
		{`{"type":"game","players":5,"letters":"ABCD"}`, "5 players, want 2 to 4"},
		{`{"type":"game","players":4,"letters":"ABCD"}`, "want A to D and 6 others"},
		{`{"type":"game","players":4,"letters":"ABCDFEGHIJ"}`, "alphabetical"},
		{`{"type":"game","players":4,"letters":"ABCDFGHIJZ"}`, "alphabetical"},
		{`{"equivalent":[],"player":4,"code":"A001"}`, "player 4"},
		{`{"equivalent":[],"code":"A009"}`, "no such shape"},
		{`{"A":{},"X":{}}`, `no letter "X"`},
		{`{"A":5}`, "malformed shape table"},
	} {
		_, err := check(t, blockinglog.New(), []string{c.line})
		require.ErrorContains(t, err, c.want, c.line)
		require.ErrorContains(t, err, "file:1: ")
	}
	_, err := check(t, blockinglog.New(), []string{blockingGameWith(t, "end")[0], `{"type":"turn","p":0}`})
	require.ErrorContains(t, err, `no "out"`)
}

// A game that does not follow the rules is followed as far as it goes.
func TestBlockingGamesThatBreakOff(t *testing.T) {
	text := blockingGameWith(t, `"decided"`)
	rep, err := check(t, blockinglog.New(), append([]string{text[0], text[1]}, text...))
	require.NoError(t, err)
	require.Equal(t, 1, rep.Differ)
	require.Contains(t, rep.First, "the next game begins before its end")

	rep, err = check(t, blockinglog.New(), []string{text[0], text[len(text)-1]})
	require.NoError(t, err)
	require.Contains(t, rep.First, "none: the game is not over")

	rep, err = check(t, blockinglog.New(), append(append([]string{}, text[:len(text)-1]...), text[1], text[1]))
	require.NoError(t, err)
	require.Equal(t, 1, rep.Differ)
	require.Contains(t, rep.First, "the game goes on")
	require.Contains(t, rep.First, "answer: ")

	var left []string // nobody was passed over, it says
	skips := 0
	for _, line := range text {
		if strings.Contains(line, `"skip"`) {
			skips++
			continue
		}
		left = append(left, line)
	}
	rep, err = check(t, blockinglog.New(), left)
	require.NoError(t, err)
	require.Positive(t, skips)
	require.Contains(t, rep.First, "passed over without a record")
}

func FuzzBlocking(f *testing.F) {
	text := blockingGameWith(f, `"elimination"`)
	head := text[0]
	for _, line := range text[1:] {
		f.Add(line)
	}
	f.Add(blockingLines(f, "firstmoves.jsonl.gz")[0])
	f.Add(blockingLines(f, "orient.json.gz")[0])
	f.Fuzz(func(t *testing.T, line string) {
		c, tally := blockinglog.New(), &conform.Tally{}
		for _, l := range []string{line, head, line, line} {
			_, _ = c.Check(tally, []byte(l))
		}
	})
}
