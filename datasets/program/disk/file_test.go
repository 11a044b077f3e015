package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "one", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 1, "nothing is left behind")
	require.NoError(t, Publish(path, 0o644, []byte("three")))
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "three", string(text))
	require.Error(t, WriteText(filepath.Join(dir, "no", "folder"), 0o600, ""))
}

// TestMissingFolder is named, and not a file that nobody knows.
func TestMissingFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "x.json")
	err := Publish(path, 0o644, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "write "+path+": folder "+filepath.Dir(path)+": file does not exist")
}

// TestFolderAsFile is refused before anything is written, not when it is to be renamed.
func TestFolderAsFile(t *testing.T) {
	dir := t.TempDir()
	_, err := Create(dir, 0o644)
	require.EqualError(t, err, "write "+dir+": this is a folder, want the name of a file")
}

// What a process that was killed has left in a folder goes with the next file; files that are being written, and others,
// stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".file.123.tmp", ".other.7.tmp", ".file.tmp", "file.1.tmp", ".file.1", ".file.1x.tmp"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	first, err := Create(filepath.Join(dir, "file"), 0o600)
	require.NoError(t, err)
	swept.Clear() // as another process
	second, err := Create(filepath.Join(dir, "file"), 0o600)
	require.NoError(t, err)
	require.FileExists(t, first.Name())
	require.NoError(t, first.Commit())
	require.NoError(t, second.Commit())
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	var left []string
	for _, e := range list {
		left = append(left, e.Name())
	}
	require.Equal(t, []string{".file.1", ".file.1x.tmp", ".file.tmp", "file", "file.1.tmp"}, left)
}
