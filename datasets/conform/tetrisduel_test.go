package conform_test

import (
	"strings"
	"testing"

	"blockyard/datasets/conform"
	"blockyard/datasets/conform/tetrisduellog"

	"github.com/stretchr/testify/require"
)

// tetrisduelLines returns the lines of a given file.
func tetrisduelLines(t testing.TB, name string) []string {
	t.Helper()
	return lines(t, "../testdata/tetrisduel/"+name)
}

func TestTetrisduelGivenFilesConform(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"games.jsonl.gz":   {"game": 7, "end": 7},
		"movegen.jsonl.gz": {"list": 100},
		"erase.jsonl.gz":   {"clear": 100},
	} {
		rep, err := check(t, tetrisduellog.New(), tetrisduelLines(t, name))
		require.NoError(t, err)
		require.Zero(t, rep.Differ, rep.First)
		for kind, n := range want {
			require.Equal(t, n, rep.Kinds[kind], name)
		}
	}
}

// Every value that a record documents is compared: altered, it is found.
func TestTetrisduelEveryAlteredValueIsFound(t *testing.T) {
	a := alteration{
		checker: tetrisduellog.New,
		spared:  map[string]bool{"type": true, "p1": true, "p2": true, "blocks": true}, // inputs
		change:  changeTetrisduel,
	}
	altered := 0
	for _, name := range []string{"games.jsonl.gz", "movegen.jsonl.gz", "erase.jsonl.gz"} {
		altered += a.run(t, tetrisduelLines(t, name))
	}
	require.Greater(t, altered, 60)
}

// changeTetrisduel makes a value another that could stand in its place.
func changeTetrisduel(v any) any {
	switch v := v.(type) {
	case nil:
		return []int{1, 1, 1}
	case []any:
		if len(v) > 0 {
			return v[:len(v)-1]
		}
		return []string{"e00"}
	case string:
		switch v {
		case "limit", "illegal", "exception", "timeout":
			return "overflow"
		case "overflow":
			return "limit"
		case "round limit", "judge to end":
			return "p1 error"
		}
		return swapTetrisduel(v)
	}
	return v
}

// swapTetrisduel changes a player's number, or one digit of a board, or makes an answer another.
func swapTetrisduel(v string) string {
	switch {
	case len(v) == 75 && v[0] == '0':
		return "1" + v[1:]
	case len(v) == 75:
		return "0" + v[1:]
	case strings.HasPrefix(v, "p1"):
		return "p2" + v[2:]
	case strings.HasPrefix(v, "p2"):
		return "p1" + v[2:]
	case v == "exception" || v == "no legal placement":
		return "None"
	}
	return "no legal placement"
}

func TestTetrisduelMalformedLinesAreErrors(t *testing.T) {
	text := tetrisduelLines(t, "games.jsonl.gz")
	for _, c := range []struct{ line, want string }{
		{"{", "malformed record"},
		{"{}", `want a "type"`},
		{`{"type":"lap"}`, `want a "type"`},
		{`{"type":"turn","act":[1,2,3]}`, "malformed turn: no game has begun"},
		{`{"type":"end"}`, "malformed end: no game has begun"},
		{`{"type":"game","blocks":[1,2]}`, "2 blocks, want 560"},
		{`{"valid":[],"block":8,"board":"` + strings.Repeat("0", 75) + `"}`, "block 8: want 1 to 7"},
		{`{"valid":[],"block":1,"board":"00"}`, "a board of 2 digits"},
		{`{"valid":[],"block":1,"board":"` + strings.Repeat("f", 75) + `"}`, "row 0: fff is wider"},
		{`{"before":"` + strings.Repeat("x", 75) + `"}`, `row 0: "xxx", want 3 hex digits`},
		{`{"before":5}`, "malformed clear"},
	} {
		_, err := check(t, tetrisduellog.New(), []string{c.line})
		require.ErrorContains(t, err, c.want, c.line)
		require.ErrorContains(t, err, "file:1: ")
	}
	for line, want := range map[string]string{
		`{"type":"turn","t":1,"p":1,"block":1}`:                `neither "act" nor "bad"`,
		`{"type":"turn","t":1,"p":1,"block":1,"act":[1,2]}`:    "want [y, x, d]",
		`{"type":"turn","t":1,"p":1,"block":1,"act":[15,2,0]}`: "want [y, x, d]",
	} {
		_, err := check(t, tetrisduellog.New(), []string{text[0], line})
		require.ErrorContains(t, err, want, line)
		require.ErrorContains(t, err, "file:2: ")
	}
}

// A game that does not follow the rules is followed as far as it goes.
func TestTetrisduelGamesThatBreakOff(t *testing.T) {
	text := tetrisduelLines(t, "games.jsonl.gz")
	rep, err := check(t, tetrisduellog.New(), append([]string{text[0], text[1]}, text...))
	require.NoError(t, err)
	require.Equal(t, 1, rep.Differ)
	require.Contains(t, rep.First, "file:3: game 31, the next game begins before its end")

	illegal := strings.Replace(text[1], `"act":[`, `"act":[0,5,0],"was":[`, 1)
	rep, err = check(t, tetrisduellog.New(), append([]string{text[0], illegal}, text[2:]...))
	require.NoError(t, err)
	require.Equal(t, 1, rep.Differ, rep.First)
	require.Contains(t, rep.First, "game 31, half-turn 1, act is in the list")

	for i, line := range text {
		if strings.Contains(line, `"end"`) {
			rep, err = check(t, tetrisduellog.New(), append([]string{text[0]}, text[i]))
			require.NoError(t, err)
			require.NotZero(t, rep.Differ)
			break
		}
	}
}

func FuzzTetrisduel(f *testing.F) {
	text := tetrisduelLines(f, "games.jsonl.gz")
	head := text[0]
	for _, line := range text[1:40] {
		f.Add(line)
	}
	f.Add(tetrisduelLines(f, "movegen.jsonl.gz")[0])
	f.Add(tetrisduelLines(f, "erase.jsonl.gz")[0])
	f.Fuzz(func(t *testing.T, line string) {
		c, tally := tetrisduellog.New(), &conform.Tally{}
		for _, l := range []string{line, head, line, line} {
			_, _ = c.Check(tally, []byte(l))
		}
	})
}
