package conform_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"blockyard/datasets/conform"
	"blockyard/datasets/record/jsonl"

	"github.com/stretchr/testify/require"
)

// lines returns the lines of the file at path, compressed or not.
func lines(t testing.TB, path string) (out []string) {
	t.Helper()
	in, err := jsonl.Open(path)
	require.NoError(t, err)
	defer in.Close()
	for line, err := range in.All() {
		require.NoError(t, err)
		out = append(out, string(line))
	}
	return out
}

// check lets c read the lines as a file named "file".
func check(t testing.TB, c *conform.Checker, text []string) (*conform.Report, error) {
	t.Helper()
	in, err := jsonl.New("file", strings.NewReader(strings.Join(text, "\n")+"\n"))
	require.NoError(t, err)
	return conform.Read(c, in)
}

// An alteration checks records with one value altered at a time.
type alteration struct {
	checker func() *conform.Checker
	spared  map[string]bool // paths of values that are not compared: "type", "seen.board"
	change  func(v any) any // another value for a text, a list or null
}

// run checks the lines once for each of their values, with that value altered, but at most twice for
// the same path in the same type of record. Each time it wants a difference or an error. It returns
// the number of altered values.
func (a alteration) run(t *testing.T, text []string) (altered int) {
	t.Helper()
	seen := map[string]int{}
	for i, line := range text {
		rec := decode(t, line)
		for _, path := range paths(rec, "") {
			key := fmt.Sprint(rec["type"]) + path
			if seen[key]++; seen[key] > 2 || a.spared[path] {
				continue
			}
			other := a.alter(t, line, path)
			changed := slices.Concat(text[:i], []string{other}, text[i+1:])
			rep, err := check(t, a.checker(), changed)
			if err == nil {
				require.NotZero(t, rep.Differ, "line %d, %s: %s", i+1, path, other)
			}
			altered++
		}
	}
	return altered
}

// decode reads a record, numbers as they are written.
func decode(t *testing.T, line string) (rec map[string]any) {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	require.NoError(t, d.Decode(&rec))
	return rec
}

// paths lists the values of a record: "t", "seen.board", "A.orient.00".
func paths(rec map[string]any, under string) []string {
	var out []string
	for k, v := range rec {
		if m, ok := v.(map[string]any); ok {
			out = append(out, paths(m, under+k+".")...)
			continue
		}
		out = append(out, under+k)
	}
	return out
}

// alter returns the record as a line with one value changed.
func (a alteration) alter(t *testing.T, line, path string) string {
	rec := decode(t, line)
	m, keys := rec, strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		m = m[k].(map[string]any)
	}
	key := keys[len(keys)-1]
	switch v := m[key].(type) {
	case json.Number:
		n, err := v.Int64()
		require.NoError(t, err)
		m[key] = n + 1
	case bool:
		m[key] = !v
	default:
		m[key] = a.change(v)
	}
	text, err := json.Marshal(rec)
	require.NoError(t, err)
	return string(text)
}
