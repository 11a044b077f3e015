package disk

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Limits of a journal that is read.
const (
	maxLine  = 1 << 20 // bytes
	maxLines = 1 << 20
)

// A Journal appends lines of JSON, each on the disk when Append returns. One process at a time has it open.
type Journal struct {
	path    string
	file    *os.File
	release func() error // of the lock
	lines   int
}

// OpenJournal opens or creates a journal and calls read with every line and its index. A last line without a line feed
// is removed. Errors name file and line, from 1; ErrHeld is wrapped while another process has it. Close it.
func OpenJournal(path string, read func(n int, line []byte) error) (*Journal, error) {
	release, err := Acquire(path + ".lock")
	if err != nil {
		return nil, err
	}
	j := &Journal{path: path, release: release}
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err == nil {
		err = j.read(read)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *Journal) read(each func(n int, line []byte) error) error {
	in := bufio.NewReaderSize(j.file, maxLine)
	var end int64
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF): // what is left is not a whole line
			if err = j.file.Truncate(end); err == nil {
				_, err = j.file.Seek(end, io.SeekStart)
			}
			return err
		case errors.Is(err, bufio.ErrBufferFull):
			err = fmt.Errorf("more than %d bytes", maxLine)
		case err == nil && j.lines == maxLines:
			err = fmt.Errorf("want at most %d lines", maxLines)
		case err == nil:
			err = each(j.lines, line[:len(line)-1])
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", j.path, j.lines+1, err)
		}
		j.lines++
		end += int64(len(line))
	}
}

// Append writes v as the next line and returns when it is on the disk.
func (j *Journal) Append(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(text) >= maxLine {
		return fmt.Errorf("%s: line %d: %d bytes, want less than %d", j.path, j.lines+1, len(text), maxLine)
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return err
	}
	j.lines++
	return j.file.Sync()
}

// Close closes the journal, which another process may then open.
func (j *Journal) Close() (err error) {
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.release())
}
