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
