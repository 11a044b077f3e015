package server

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
	"unsafe"

	"blockyard/rpc/wire"
)

// A Local is a connection to the server of this process. Each request is answered on the goroutine that writes it,
// before Write returns. It is safe for concurrent use.
type Local struct {
	net.Conn // nil: a Local has no addresses and no deadlines
	mu       sync.Mutex
	ses      *session
	requests bytes.Reader
	reader   *wire.Reader
	answers  answers
	step     []byte // a request
	closed   bool
}

// answers is the server's side of a Local.
type answers struct {
	net.Conn // nil
	bytes.Buffer
}

func (a *answers) Close() error                     { return nil }
func (a *answers) SetReadDeadline(time.Time) error  { return nil }
func (a *answers) SetWriteDeadline(time.Time) error { return nil }
func (a *answers) Write(b []byte) (int, error)      { return a.Buffer.Write(b) }
func (a *answers) Read([]byte) (int, error)         { return 0, io.EOF }

// Local returns a new connection of this process, which has not said hello; nil after Shutdown.
func (s *Server) Local() *Local {
	l := &Local{}
	if l.ses = s.arrive(&l.answers, &entrance{}); l.ses == nil {
		return nil
	}
	l.reader = l.ses.reader(&l.requests)
	return l
}

// Write answers one request, which b holds whole.
func (l *Local) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(b), l.answer(b)
}

func (l *Local) answer(b []byte) error {
	if l.ses.ctx.Err() != nil {
		return net.ErrClosed
	}
	l.requests.Reset(b)
	f, err := l.ses.read(l.reader)
	if err != nil {
		l.ses.end()
		return err
	}
	l.ses.inflight.Add(1)
	l.ses.finish(f)
	return nil
}

// Read returns bytes of the answers, io.EOF if there are no more for now.
func (l *Local) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.answers.Buffer.Read(b)
	if l.answers.Len() == 0 && l.answers.Cap() > mostAtOnce {
		l.answers.Buffer = bytes.Buffer{}
	}
	return n, err
}

// Step steps the games of a handle like the method step_slot, with memory of the caller as the slot: actions, one
// little-endian uint16 per row, and a slab, aligned to 8 bytes. The slab must exist until the next request of the
// handle, whose answer may depend on it. It reports whether it succeeded; if not, Read returns the answer.
func (l *Local) Step(h uint32, actions, slab unsafe.Pointer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var slot uint32
	if open := l.ses.handles[h]; open != nil {
		var err error
		if slot, err = open.Lend(slab); err != nil {
			l.ses.fail(0, refusal([]byte("step"), err))
			return false
		}
		open.Slots[slot].Actions = unsafe.Slice((*byte)(actions), 2*open.Rows)
	}
	before := l.answers.Len()
	l.step = wire.AppendStepSlot(l.step[:0], 0, h, slot)
	if err := l.answer(l.step); err != nil || !bytes.Equal(l.answers.Bytes()[before:], l.ses.brief[:]) {
		return false
	}
	l.answers.Truncate(before)
	return true
}

// Close ends the session and frees its handles. It may be called again. Shutdown waits for it.
func (l *Local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		l.ses.end()
		l.ses.dispose()
	}
	return nil
}
