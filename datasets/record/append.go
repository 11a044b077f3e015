package record

import (
	"errors"
	"io"
	"os"
	"strings"
)

// Append opens a file of records for writing at its end, or creates it. If the last writer was killed in
// the middle of a record, Append first removes that incomplete record.
func Append(path string) (*Writer, error) {
	whole, compressed, err := examine(path)
	if errors.Is(err, os.ErrNotExist) {
		whole, compressed, err = true, strings.HasSuffix(path, ".gz"), nil
	}
	if err == nil && !whole {
		err = mend(path, compressed)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return onFile(f, compressed), nil
}

// examine reads the whole file and reports whether it is complete and whether it is compressed.
func examine(path string) (whole, compressed bool, err error) {
	r, err := Open(path)
	if err != nil {
		return false, false, err
	}
	defer r.Close()
	compressed = r.in.Compressed()
	if r.in.Blank() {
		compressed = strings.HasSuffix(path, ".gz")
	}
	for err == nil {
		err = r.ReadPart(new(Record))
		if errors.Is(err, ErrPartial) || err == nil && r.in.Cut() {
			return false, compressed, nil
		}
	}
	if errors.Is(err, io.EOF) {
		return true, compressed, nil
	}
	return false, compressed, err
}

// mend rewrites a file without its incomplete last record.
func mend(path string, compressed bool) error {
	in, err := Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	in.AllowPartial = true
	w, err := create(path, compressed)
	if err != nil {
		return err
	}
	defer w.Discard()
	for rec, err := range in.All() {
		if err != nil {
			return err
		}
		if err := w.Write(rec); err != nil {
			return err
		}
	}
	return w.Close()
}
