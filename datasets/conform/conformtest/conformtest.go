// Package conformtest helps to test a conform.Checker: it reads the given records and
// alters them, one value at a time.
package conformtest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"blockyard/datasets/conform"
	"blockyard/datasets/jsonl"

	"github.com/stretchr/testify/require"
)

// Lines returns the lines of the file at path, compressed or not.
func Lines(t testing.TB, path string) []string {
	t.Helper()
	in, err := jsonl.Open(path)
	require.NoError(t, err)
	defer in.Close()
	var out []string
	for {
		line, err := in.Next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return out
		}
		out = append(out, string(line))
	}
}

// Check lets c read the lines as a file named "file".
func Check(t testing.TB, c *conform.Checker, text []string) (*conform.Report, error) {
	t.Helper()
	return conform.Read(c, "file", strings.NewReader(strings.Join(text, "\n")+"\n"))
}

// Alteration says how records are altered.
type Alteration struct {
	New    func() *conform.Checker
	Spared map[string]bool // paths of values that are not compared: "type", "seen.board"
	Change func(v any) any // another value for a text, a list or null
}

// Run checks the lines once for every value of theirs with that value altered, at most
// twice for a path in a type of record. An alteration must be found or be an error. It
// returns how many there were.
func (a Alteration) Run(t *testing.T, text []string) (altered int) {
	t.Helper()
	seen := map[string]int{}
	for i, line := range text {
		rec := decode(t, line)
		for _, path := range paths(rec, "") {
			key := fmt.Sprint(rec["type"]) + path
			if seen[key]++; seen[key] > 2 || a.Spared[path] {
				continue
			}
			other := a.alter(t, line, path)
			changed := append(append(append([]string{}, text[:i]...), other), text[i+1:]...)
			rep, err := Check(t, a.New(), changed)
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
func (a Alteration) alter(t *testing.T, line, path string) string {
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
		m[key] = a.Change(v)
	}
	text, err := json.Marshal(rec)
	require.NoError(t, err)
	return string(text)
}
