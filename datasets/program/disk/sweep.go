package disk

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// temporary are the names of files that are being written. Their writers hold locks on them.
var temporary = regexp.MustCompile(`^\..+\.[0-9]+\.tmp$`)

// swept is a set of the folders that sweep has seen.
var swept sync.Map

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
