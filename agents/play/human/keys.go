package human

import (
	"context"
	"io"
	"sync"
)

// Keys passes on what a person types, key by key on a raw terminal, and line by line otherwise.
type Keys struct {
	in   io.Reader
	raw  bool
	once sync.Once
	got  chan string
	err  error // set before got is closed
}

// NewKeys returns the keys that are read from in: single ones if it is a raw terminal, lines otherwise.
func NewKeys(in io.Reader, raw bool) *Keys { return &Keys{in: in, raw: raw, got: make(chan string)} }

// Next waits for the next key or line. At the end of the input the error is ErrQuit.
func (k *Keys) Next(ctx context.Context) (string, error) {
	k.once.Do(func() { go k.read() })
	select {
	case text, ok := <-k.got:
		if !ok {
			return "", k.err
		}
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// maxLine is the longest line that is read.
const maxLine = 4096

func (k *Keys) read() {
	defer close(k.got)
	buf, line := make([]byte, 64), []byte(nil)
	for {
		n, err := k.in.Read(buf)
		if k.raw {
			for _, key := range split(string(buf[:n])) {
				k.got <- key
			}
		} else {
			for _, c := range buf[:n] {
				if c == '\n' {
					k.got <- string(line)
					line = line[:0]
				} else if len(line) < maxLine {
					line = append(line, c)
				}
			}
		}
		if err != nil {
			if len(line) > 0 {
				k.got <- string(line)
			}
			k.err = ErrQuit
			return
		}
	}
}

// names are the names of keys that send several bytes, and of those that print nothing.
var names = map[string]string{
	"\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left",
	"\x1bOA": "up", "\x1bOB": "down", "\x1bOC": "right", "\x1bOD": "left",
	"\r": "enter", "\n": "enter", "\t": "tab", " ": "space", "\x7f": "back", "\b": "back", "\x03": "quit", "\x04": "quit",
	"\x1b": "escape",
}

// split splits what a terminal sends into keys: names for the known ones, single characters otherwise.
func split(text string) (keys []string) {
	for len(text) > 0 {
		n := 1
		if len(text) >= 3 && (text[:2] == "\x1b[" || text[:2] == "\x1bO") {
			n = 3
		}
		key := text[:n]
		if name, ok := names[key]; ok {
			key = name
		}
		keys, text = append(keys, key), text[n:]
	}
	return keys
}
