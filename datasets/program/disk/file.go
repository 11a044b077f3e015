// Package disk keeps files whole: a File is never seen half written, whatever interrupts the writing, a Journal loses
// no line, and a lock lets one process at a time use a path.
package disk

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
	f, err := Create(path, mode)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err = errors.Join(write(f), sync(f.File)); err != nil {
		return err
	}
	return f.Commit()
}

// A File is a file that is being written under another name in the folder where it will be.
type File struct {
	*os.File
	path string // "" after Commit or Discard
}

// Create begins to write a file, which gets its name, and replaces an older one, by Commit. The first call for a folder
// removes what processes that were killed have left there.
func Create(path string, mode fs.FileMode) (*File, error) {
	dir := filepath.Dir(path)
	if _, done := swept.LoadOrStore(dir, true); !done {
		sweep(dir)
	}
	inner, err := createTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if errors.Is(err, fs.ErrNotExist) { // the file of the error is one that nobody has named
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

// Commit closes the file and gives it its name. If that fails, the file is removed. A second call does nothing.
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

// WriteText is Write of a text.
func WriteText(path string, mode fs.FileMode, text string) error {
	return Write(path, mode, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
