package viewer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"blockyard/datasets/record"
	"blockyard/datasets/record/gamelog"
)

// ReadGame returns game n, from 1, of a file of records or a history folder, and whether others follow. It reads at
// most so many bytes of a file, with 0 jsonl.MaxBytes. The record of a history ends before a turn with an error.
func ReadGame(ctx context.Context, path string, n int, most int64) (rec *record.Record, more bool, err error) {
	switch {
	case IsHistory(path) && n == 1:
		d := dir{folder: folder{path, filepath.ToSlash(path)}}
		if d.look(); d.entry == nil {
			return nil, false, fmt.Errorf("%s: not found, want a history folder", path)
		}
		h, err := openHistory(&d.folder, d.entry.Players[0])
		if err != nil {
			return nil, false, err
		}
		h.grow(ctx)
		return h.rec, false, h.err
	case IsHistory(path):
		return nil, false, fmt.Errorf("%s: no game %d, want 1: a history folder has one game", path, n)
	case IsHistory(filepath.Dir(path)):
		return nil, false, fmt.Errorf("%s is a part of the history folder %s: name the folder", path, filepath.Dir(path))
	}
	if gamelog.Is(path) || n < 0 {
		e, err := find(ctx, path, n)
		if err == nil && e.Error != "" {
			err = errors.New(e.Error)
		}
		if err != nil {
			return nil, false, err
		}
		rec, _, err = e.read(ctx)
		return rec, false, err
	}
	r, err := record.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	if most > 0 {
		r.Limit(most, "raise --max-bytes")
	}
	r.Use(ctx)
	for k := 1; k <= n; k++ {
		if rec, err = r.Read(); errors.Is(err, io.EOF) {
			return nil, false, fmt.Errorf("%s: no game %d, the file has %d", path, n, k-1)
		} else if err != nil {
			return nil, false, err
		}
	}
	_, err = r.Read()
	return rec, !errors.Is(err, io.EOF), nil
}

// Newest returns a folder's "history", or else what was written last below it: a file of records or a history folder.
func Newest(below string) (string, error) {
	path := filepath.Join(below, "history")
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return path, nil
	}
	path = newest(below, func(path string, history bool) int64 {
		if history {
			path = filepath.Join(path, "state0")
		}
		if st, err := os.Stat(path); err == nil {
			return st.ModTime().UnixNano()
		}
		return 0
	})
	if path == "" {
		return "", errors.New("neither a folder history nor a file *.jsonl or *.jsonl.gz is here: name what to show")
	}
	return path, nil
}

// NewestHistory returns the history folder below a folder whose game began last. It returns an error if there is none.
func NewestHistory(below string) (string, error) {
	path := newest(below, func(path string, history bool) int64 {
		st, err := os.Stat(path)
		if !history || err != nil {
			return 0
		}
		return cmp.Or(startOf(filepath.Base(path)), st.ModTime().UnixMilli())
	})
	if path == "" {
		return "", fmt.Errorf("%s: no history folder here or below, want one with a file state0", below)
	}
	return path, nil
}

// newest returns the file of records or history folder at the latest time; "" if no time is above 0.
func newest(below string, timeOf func(path string, history bool) int64) (path string) {
	last := int64(0)
	(&Library{}).find(folder{path: below}, func(at, _ string, history bool) {
		if when := timeOf(at, history); when > last && (history || gamelog.Is(at) || begins(at)) {
			path, last = at, when
		}
	})
	return path
}

// begins says whether a file begins with a record: others have lines of JSON too, such as the journals of tournaments.
func begins(path string) bool {
	r, err := record.Open(path)
	if err != nil {
		return false
	}
	defer r.Close()
	return r.ReadPart(new(record.Record)) == nil
}
