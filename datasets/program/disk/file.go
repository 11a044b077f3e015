// Package disk keeps files whole. A File replaces another one only when it is complete. A Journal keeps every line that
// was appended, whenever the process is killed. A lock (Acquire) lets one process at a time use a path.
package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
)

// Write replaces the file at path once write's text is on the disk, in a temporary file of the same folder.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return replace(path, mode, func(f *os.File) error { return errors.Join(write(f), f.Sync()) })
}

// WriteText writes a text as a file, which Write replaces at once or not at all.
func WriteText(path string, mode fs.FileMode, text string) error {
	return Write(path, mode, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// WriteJSON is Write of a value as JSON for people.
func WriteJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteText(path, 0o644, string(text)+"\n")
}

// Publish is Write of a text, but does not wait for the disk: after a power failure the file may be empty.
func Publish(path string, mode fs.FileMode, text []byte) error {
	return replace(path, mode, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

func replace(path string, mode fs.FileMode, write func(*os.File) error) error {
	f, err := Create(path, mode)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := write(f.File); err != nil {
		return err
	}
	return f.Commit()
}

// A File is a temporary file that Commit renames to its final path, in the same folder.
type File struct {
	*os.File
	path string // "" after Commit or Discard
}

// Create creates a File for a path. A process's first call for a folder removes what killed writers left there.
func Create(path string, mode fs.FileMode) (*File, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() { // found here, not when all is written
		return nil, &fs.PathError{Op: "write", Path: path, Err: errors.New("this is a folder, want the name of a file")}
	}
	dir := filepath.Dir(path)
	if _, done := swept.LoadOrStore(dir, true); !done {
		sweep(dir)
	}
	inner, err := createTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if errors.Is(err, fs.ErrNotExist) { // the error names a temporary file, which says nothing to a user
		return nil, &fs.PathError{Op: "write " + path + ": folder", Path: dir, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, err
	}
	f := &File{inner, path}
	if err := f.Chmod(mode); err != nil {
		f.Discard()
		return nil, err
	}
	return f, nil
}

// Commit closes the file and renames it to its path. If that fails, the file is removed. A second call does nothing.
func (f *File) Commit() error {
	if f.path == "" {
		return nil
	}
	path := f.path
	f.path = ""
	err := f.Close()
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Discard closes and removes the file. After Commit it does nothing, so it can be deferred.
func (f *File) Discard() {
	if f.path != "" {
		f.path = ""
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}

// ErrHeld says that another process, or another part of this one, holds a lock. Errors of Acquire wrap it.
var ErrHeld = errors.New("in use")

// Acquire locks the file path, or wraps ErrHeld if it is held. release also removes it, except on Windows.
func Acquire(path string) (release func() error, err error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
		if !replaced(f, path) {
			if runtime.GOOS == "windows" { // it removes no open file, and one without a lock is harmless
				return f.Close, nil
			}
			// Removed while it is locked, so that nobody locks a file that is about to go.
			return func() error { return errors.Join(os.Remove(path), f.Close()) }, nil
		}
		if err := f.Close(); err != nil { // its last holder removed it just before it was locked here
			return nil, err
		}
	}
}

// replaced reports whether path is not the open file f any more.
func replaced(f *os.File, path string) bool {
	here, err1 := f.Stat()
	there, err2 := os.Stat(path)
	return err1 != nil || err2 != nil || !os.SameFile(here, there)
}

// temporary are the names of files that are being written. Their writers hold locks on them.
var temporary = regexp.MustCompile(`^\..+\.[0-9]+\.tmp$`)

var swept sync.Map // a set of the folders that sweep has seen

// createTemp is os.CreateTemp, and locks the file.
func createTemp(dir, pattern string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(dir, pattern)
		if err != nil {
			return nil, err
		}
		err = lock(f) // on a file system without locks, nothing is swept
		if !errors.Is(err, ErrHeld) && (err != nil || !replaced(f, f.Name())) {
			return f, nil
		}
		_ = f.Close() // another process is about to sweep it away
	}
}

// sweep removes the temporary files in a folder whose writers are gone. What cannot be removed stays.
func sweep(dir string) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if !e.Type().IsRegular() || !temporary.MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if lock(f) == nil {
			_ = os.Remove(path)
		}
		_ = f.Close()
	}
}
