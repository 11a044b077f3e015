package conform_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blockyard/datasets/conform"
	"blockyard/datasets/record/jsonl"

	"github.com/stretchr/testify/require"
)

// must returns the result of a step that does not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// path is where a given file of a game is: "blocking/games".
func path(name string) string {
	found, _ := filepath.Glob("../testdata/" + name + ".json*.gz")
	return found[0]
}

// lines returns the lines of a given file.
func lines(t testing.TB, name string) (out []string) {
	t.Helper()
	in := must(jsonl.Open(path(name)))
	defer in.Close()
	for line, err := range in.All() {
		require.NoError(t, err)
		out = append(out, string(line))
	}
	return out
}

// check lets c read the lines as a file named "file".
func check(t testing.TB, c *conform.Checker, text ...string) (*conform.Report, error) {
	t.Helper()
	return conform.Read(c, must(jsonl.New("file", strings.NewReader(strings.Join(text, "\n")+"\n"))))
}

// decode reads a record, numbers as they are written.
func decode(t *testing.T, line string) (rec map[string]any) {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	require.NoError(t, d.Decode(&rec))
	return rec
}

// leaf is a value somewhere in a record: its path, such as ".seen.board", and a way to change it.
type leaf struct {
	path   string
	change func() (restore func())
}

// leaves lists the values of v, which stands at path, in the order of their paths: of a list its elements if deep is set,
// and otherwise the list.
func leaves(path string, v any, deep bool, set func(any)) (out []leaf) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, leaves(path+"."+key, v[key], deep, func(n any) { v[key] = n })...)
		}
		return out
	case []any:
		if deep && (len(v) > 0 || strings.HasSuffix(path, ".why")) {
			for i, inner := range v {
				out = append(out, leaves(fmt.Sprintf("%s.%d", path, i), inner, deep, func(n any) { v[i] = n })...)
			}
			return out
		}
	}
	return []leaf{{path, func() func() { set(other(path, v)); return func() { set(v) } }}}
}

// other is another value that could stand at a path.
func other(path string, v any) any {
	key := path[strings.LastIndex(path, ".")+1:]
	switch v := v.(type) {
	case bool:
		return !v
	case json.Number:
		n, _ := v.Int64()
		return n + 1
	case string:
		return otherText(key, v)
	case []any:
		if len(v) > 0 {
			return v[1:]
		}
		return instead(key, []any{[]any{"solid", "player1"}})
	}
	return instead(key, []any{1, 1, 1})
}

// instead is a value for a key in place of null or of an empty list.
func instead(key string, otherwise any) any {
	switch key {
	case "illegal":
		return []any{7}
	case "parsed", "others":
		return []any{"left"}
	case "valid", "all":
		return []any{"e00"}
	case "winner", "document":
		return "player1"
	}
	return otherwise
}

// texts are others that mean something, by the key and the text.
var texts = map[string]string{
	"bad no legal placement": "None", "bad": "no legal placement",
	"state playing": "failed", "state failed": "playing", "state p1 error": "p2 error", "state": "p1 error",
}

func otherText(key, v string) string {
	for _, known := range []string{key + " " + v, key} {
		if text, ok := texts[known]; ok {
			return text
		}
	}
	switch {
	case v == "player1":
		return "player2"
	case len(v) == 75 && v[0] == '0': // a board of the duel, whose first row can be reached
		return "1" + v[1:]
	case len(v) == 75:
		return "0" + v[1:]
	case v == "":
		return "x"
	case strings.HasSuffix(v, "0"):
		return v[:len(v)-1] + "2"
	}
	return v[:len(v)-1] + "0"
}

// alterEach checks the lines once for each of their values, with that value altered, but at most twice for the same path
// in the same type of record. Values whose keys are spared are not compared. Each time it wants a difference or an error.
// It returns the number of altered values.
func alterEach(t *testing.T, checker func() *conform.Checker, spared string, text []string) (altered int) {
	t.Helper()
	seen := map[string]int{}
	for i, line := range text {
		rec := decode(t, line)
		for _, l := range leaves("", rec, false, nil) {
			key := fmt.Sprint(rec["type"]) + l.path
			if seen[key]++; seen[key] > 2 || slices.Contains(strings.Fields(spared), l.path[1:]) {
				continue
			}
			restore := l.change()
			changed, err := json.Marshal(rec)
			restore()
			require.NoError(t, err)
			rep, err := check(t, checker(), slices.Concat(text[:i], []string{string(changed)}, text[i+1:])...)
			if err == nil {
				require.NotZero(t, rep.Differ, "line %d, %s: %s", i+1, l.path, changed)
			}
			altered++
		}
	}
	return altered
}
