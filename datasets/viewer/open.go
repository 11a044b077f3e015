package viewer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
)

// An opened is a file of records from some offset, decompressed unless the offset is 0.
type opened struct {
	io.Reader
	file *os.File
}

func (o *opened) Close() error { return o.file.Close() }

// openAt opens a file at an offset of its uncompressed data. A shorter file reads as empty.
func openAt(path string, offset int64) (io.ReadCloser, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: want a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	plain := bufio.NewReader(f)
	magic, _ := plain.Peek(2)
	if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			f.Close()
			return nil, err
		}
		return &opened{f, f}, nil
	}
	if offset == 0 { // the caller detects the compression
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			f.Close()
			return nil, err
		}
		return &opened{f, f}, nil
	}
	unzip, err := gzip.NewReader(plain)
	if err == nil {
		_, err = io.CopyN(io.Discard, unzip, offset)
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return &opened{io.LimitReader(f, 0), f}, nil
	}
	return &opened{unzip, f}, nil
}
