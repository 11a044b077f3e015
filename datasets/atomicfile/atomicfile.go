// Package atomicfile writes files that are never seen half written, whatever interrupts the writing.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write creates or replaces a file by what write writes, under another name in the same folder first. If it returns an
// error, the file is as it was.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return replace(path, mode, write, (*os.File).Sync)
}

// Publish creates or replaces a file by a text as Write does, but does not wait for the disk: after a failure of
// power the file may be empty.
func Publish(path string, mode fs.FileMode, text []byte) error {
	return replace(path, mode, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}, func(*os.File) error { return nil })
}

func replace(path string, mode fs.FileMode, write func(io.Writer) error, sync func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails if it was renamed
	if err = errors.Join(write(f), f.Chmod(mode), sync(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// WriteText is Write of a text.
func WriteText(path string, mode fs.FileMode, text string) error {
	return Write(path, mode, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
