package contest

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// A Tail keeps the last lines of what is written to it.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

const tailLen = 2 << 10

var _ io.Writer = (*Tail)(nil)

// Write implements io.Writer.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if extra := len(t.text) - tailLen; extra > 0 {
		t.text = bytes.Clone(t.text[extra:])
	}
	return len(b), nil
}

// String returns them without space around.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
