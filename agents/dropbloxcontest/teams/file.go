package teams

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadFile reads a file of teams.
func ReadFile(path string) ([]Team, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f)
}

// Put adds a team to a file, which it creates if need be, or changes the team's password. It
// keeps all other lines.
func Put(path, name, password string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := Read(path, bytes.NewReader(text)); err != nil {
		return err
	}
	t, err := New(name, password)
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(string(text))), func(l string) bool {
		return strings.HasPrefix(l, name+":")
	})
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += "\n"
	}
	return replaceFile(path, strings.Join(lines, "")+t.String()+"\n")
}

// replaceFile writes a file that only its owner may read, whole or not at all.
func replaceFile(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // if it has not been renamed
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
