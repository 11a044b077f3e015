package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/envtest"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, WriteText(path, 0o600, "one"))
	failure := errors.New("no more")
	err := Write(path, 0o644, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half of two")
		return failure
	})
	require.ErrorIs(t, err, failure)
	holds(t, path, "one")
	require.Equal(t, os.FileMode(0o600), envtest.Must(os.Stat(path)).Mode().Perm())
	require.Equal(t, []string{"file"}, names(dir), "nothing is left behind")
	require.NoError(t, Publish(path, 0o644, []byte("three")))
	holds(t, path, "three")

	path = filepath.Join(dir, "none", "x.json")
	err = Publish(path, 0o644, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "write "+path+": folder "+filepath.Dir(path)+": file does not exist")
	require.EqualError(t, envtest.Failed(Create(dir, 0o644)), "write "+dir+": this is a folder, want the name of a file")
}

func holds(t *testing.T, path, want string) {
	require.Equal(t, want, string(envtest.Must(os.ReadFile(path))))
}

// names returns the names of the files in a folder.
func names(dir string) (all []string) {
	for _, e := range envtest.Must(os.ReadDir(dir)) {
		all = append(all, e.Name())
	}
	return all
}

// What a process that was killed has left in a folder goes with the next file; files that are being written, and others,
// stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".file.123.tmp", ".other.7.tmp", ".file.tmp", "file.1.tmp", ".file.1", ".file.1x.tmp"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	first := envtest.Must(Create(filepath.Join(dir, "file"), 0o600))
	swept.Clear() // as another process
	second := envtest.Must(Create(filepath.Join(dir, "file"), 0o600))
	require.FileExists(t, first.Name())
	require.NoError(t, first.Commit())
	require.NoError(t, second.Commit())
	require.Equal(t, []string{".file.1", ".file.1x.tmp", ".file.tmp", "file", "file.1.tmp"}, names(dir))
}

// lines opens a journal, returns its lines and closes it after appending.
func lines(t *testing.T, path string, appended ...any) (all []string) {
	j := envtest.Must(OpenJournal(path, func(n int, line []byte) error {
		require.Equal(t, len(all), n)
		all = append(all, string(line))
		return nil
	}))
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
	whole := envtest.Must(os.ReadFile(path))
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
	ignore := func(int, []byte) error { return nil }
	j := envtest.Must(OpenJournal(path, ignore)) // a journal that was refused is free again
	require.ErrorIs(t, envtest.Failed(OpenJournal(path, ignore)), ErrHeld)
	require.ErrorContains(t, j.Append(strings.Repeat("x", maxLine)), "line 3: 1048578 bytes, want less than 1048576")
	require.ErrorContains(t, j.Append(func() {}), "unsupported type")
	require.NoError(t, j.Close())
	require.NoError(t, os.WriteFile(path, append(bytes.Repeat([]byte("x"), maxLine), '\n'), 0o644))
	require.ErrorContains(t, envtest.Failed(OpenJournal(path, ignore)), "line 1: more than 1048576 bytes")
	require.Error(t, envtest.Failed(OpenJournal(filepath.Join(path, "no", "folder"), nil)))
}

// Whatever is in the file, opening it reads whole lines only, and what is appended is the last line.
func FuzzJournal(f *testing.F) {
	f.Add([]byte("{}\n{}\n{"))
	f.Add([]byte("\n\n"))
	f.Add([]byte{0, '\n', 0xff})
	f.Fuzz(func(t *testing.T, text []byte) {
		path := envtest.File(t, "journal.jsonl", text)
		want, _ := json.Marshal(len(text))
		before := lines(t, path, len(text))
		require.Len(t, before, bytes.Count(text, []byte("\n")))
		require.Equal(t, append(before, string(want)), lines(t, path))
	})
}

func TestAcquire(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release := envtest.Must(Acquire(path))
	_, err := Acquire(path)
	require.ErrorIs(t, err, ErrHeld)
	require.ErrorContains(t, err, path)
	require.NoError(t, release())
	require.NoError(t, envtest.Must(Acquire(path))())
	require.Error(t, envtest.Failed(Acquire(filepath.Join(path, "no", "folder"))))
}

// Many try for the lock, hold it and remove the file again and again: never two of them hold it.
func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var all sync.WaitGroup
	var held atomic.Bool
	var got atomic.Int32
	for range 8 {
		all.Go(func() {
			for range 300 {
				release, err := Acquire(path)
				if err != nil {
					continue
				}
				if held.Swap(true) {
					t.Error("two hold the lock")
				}
				got.Add(1)
				held.Store(false)
				if release() != nil {
					t.Error("a lock could not be released")
				}
			}
		})
	}
	all.Wait()
	require.Positive(t, got.Load())
}
