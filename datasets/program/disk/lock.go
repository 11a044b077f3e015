package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
)

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
