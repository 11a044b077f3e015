package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lines opens a journal, returns its lines and closes it after appending.
func lines(t *testing.T, path string, appended ...any) (all []string) {
	t.Helper()
	j, err := OpenJournal(path, func(n int, line []byte) error {
		require.Equal(t, len(all), n)
		all = append(all, string(line))
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, len(all), j.lines)
	for _, v := range appended {
		require.NoError(t, j.Append(v))
	}
	require.Equal(t, len(all)+len(appended), j.lines)
	require.NoError(t, j.Close())
	return all
}

// Whatever byte the file is cut off at, the whole lines are read and the journal goes on behind them.
func TestJournalAfterAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	require.Empty(t, lines(t, path, map[string]int{"a": 1}, "two", 3))
	require.Equal(t, []string{`{"a":1}`, `"two"`, `3`}, lines(t, path))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for n := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(path, whole[:n], 0o644))
		want := bytes.Count(whole[:n], []byte("\n"))
		require.Len(t, lines(t, path, "next"), want)
		require.Equal(t, `"next"`, lines(t, path)[want])
	}
}

func TestJournalRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	lines(t, path, 1, 2)
	_, err := OpenJournal(path, func(n int, _ []byte) error {
		if n == 1 {
			return errors.New("not the second one")
		}
		return nil
	})
	require.EqualError(t, err, path+": line 2: not the second one")
	j, err := OpenJournal(path, func(int, []byte) error { return nil })
	require.NoError(t, err, "a journal that was refused is free again")
	_, err = OpenJournal(path, func(int, []byte) error { return nil })
	require.ErrorIs(t, err, ErrHeld)
	require.ErrorContains(t, j.Append(strings.Repeat("x", maxLine)), "line 3: 1048578 bytes, want less than 1048576")
	require.ErrorContains(t, j.Append(func() {}), "unsupported type")
	require.NoError(t, j.Close())
	require.NoError(t, os.WriteFile(path, append(bytes.Repeat([]byte("x"), maxLine), '\n'), 0o644))
	_, err = OpenJournal(path, func(int, []byte) error { return nil })
	require.ErrorContains(t, err, "line 1: more than 1048576 bytes")
	_, err = OpenJournal(filepath.Join(path, "no", "folder"), nil)
	require.Error(t, err)
}

// Whatever is in the file, opening it reads whole lines only, and what is appended is the last line.
func FuzzJournal(f *testing.F) {
	f.Add([]byte("{}\n{}\n{"))
	f.Add([]byte("\n\n"))
	f.Add([]byte{0, '\n', 0xff})
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		require.NoError(t, os.WriteFile(path, text, 0o644))
		want, _ := json.Marshal(len(text))
		before := lines(t, path, len(text))
		require.Len(t, before, bytes.Count(text, []byte("\n")))
		require.Equal(t, append(before, string(want)), lines(t, path))
	})
}
