// Package link carries the requests and responses of one connection: it reads requests within their limits of length
// and time, queues them for the goroutine that answers them, counts the memory of both, and writes responses within
// theirs. It knows no method and no game.
package link

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"blockyard/rpc/session/limits"
	"blockyard/rpc/wire"
)

// A Size is how large the requests of a method may be, and what happens to their memory.
type Size int

// The sizes.
const (
	Small Size = iota // limits.Control bytes
	Steps             // four times what the largest handle needs for a step. Their memory is kept for the next one
	Bulk              // Limits.MaxMessage bytes
)

// An Answerer is what answers the requests of one connection.
type Answerer interface {
	// Answer answers a request. It is called on one goroutine at a time.
	Answer(f *wire.Frame)
	// Quick reports whether the goroutine that reads should answer a request, the only one in flight: handing it over
	// takes as long as a short step. While it answers, nothing notices that the client disconnects.
	Quick(f *wire.Frame) bool
}

// A Config is what all links of a server have in common.
type Config struct {
	Limits   *limits.Limits
	Ledger   *limits.Ledger
	Log      *slog.Logger
	Size     func(method []byte) Size
	Draining func() bool    // whether requests are refused, since the server stops
	Failed   func(code int) // is called with the code of every error
}

// A Link is one connection.
type Link struct {
	Conn     net.Conn
	Context  context.Context // ends with the connection
	Inflight atomic.Int32    // requests read but not yet answered
	Arrived  chan struct{}   // a request has been queued: for a method that waits
	Memory   *limits.Holding // bytes of responses

	c         *Config
	cancel    context.CancelFunc
	queue     chan *wire.Frame
	admitted  atomic.Bool    // hello was accepted
	token     *limits.Holder // of the client; nil if clients need none
	stepLimit atomic.Int64   // length of the longest step request

	freeMu sync.Mutex
	free   []*wire.Frame
	kept   int             // bytes of frames that handles account for
	keep   int             // the most of them
	over   int64           // bytes of kept beyond keep, accounted for
	claim  *limits.Holding // other bytes of frames

	writeMu  sync.Mutex
	deadline time.Time // write deadline of the connection
	brief    [wire.DoneLen]byte
}

// New returns a connection whose client has not said hello.
func New(conn net.Conn, c *Config) *Link {
	l := &Link{Conn: conn, c: c, queue: make(chan *wire.Frame, c.Limits.MaxInflight+1), Arrived: make(chan struct{}, 1)}
	l.Context, l.cancel = context.WithCancel(context.Background())
	l.claim = c.Ledger.Requests.Holding(func() { l.readUntil(time.Time{}) })
	l.Memory = c.Ledger.Replies.Holding(func() { go l.End() }) // closing a TLS connection may wait for its client
	return l
}

// Admit lets the client send all requests and take the time it likes between them.
func (l *Link) Admit(token *limits.Holder) {
	l.token = token
	l.admitted.Store(true)
	_ = l.Conn.SetReadDeadline(time.Time{})
}

// Admitted reports whether hello was accepted.
func (l *Link) Admitted() bool { return l.admitted.Load() }

// End closes the connection; Run then returns. Any goroutine may call it.
func (l *Link) End() {
	l.cancel()
	l.Conn.Close()
}

// Run has requests answered until the connection ends or violates the protocol, and returns why. Free follows.
func (l *Link) Run(a Answerer) error {
	var answering sync.WaitGroup
	answering.Go(func() {
		for f := range l.queue { // after the end, this only empties the queue
			l.finish(f, a)
		}
	})
	err := l.readAll(a)
	l.claim.Settle()
	l.End()
	close(l.queue)
	answering.Wait()
	return err
}

// Free gives back the memory of requests, after the end and when no method keeps any.
func (l *Link) Free() {
	l.claim.Settle()
	for _, f := range l.free {
		l.release(f)
	}
	l.countKept()
}

// Reader reads requests within their limits.
func (l *Link) Reader(from io.Reader) *wire.Reader {
	r := wire.NewReader(countingReader{from, &l.c.Ledger.Totals.Received})
	r.Limit, r.Grow = l.limit, l.hold
	return r
}

// A countingReader adds the length of what it reads to a counter that others may read meanwhile.
type countingReader struct {
	io.Reader
	n *atomic.Uint64
}

func (r countingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.n.Add(uint64(n))
	return n, err
}

// read reads the next request. If it violates the protocol, read answers it; any error ends the connection.
func (l *Link) read(r *wire.Reader) (*wire.Frame, error) {
	f := l.frame()
	err := r.Next(f)
	if err == nil {
		l.c.Ledger.Totals.Requests.Add(1)
		return f, nil
	}
	if l.claim.Cut() {
		err = l.claim.Exceeds()
	}
	if refusal, ok := errors.AsType[*wire.Error](err); ok {
		l.Fail(f.ID, refusal)
	}
	l.freeMu.Lock()
	defer l.freeMu.Unlock()
	l.release(f)
	return nil, err
}

// Next reads a request and has it answered, on this goroutine.
func (l *Link) Next(r *wire.Reader, a Answerer) error {
	if l.Context.Err() != nil {
		return net.ErrClosed
	}
	f, err := l.read(r)
	switch {
	case err != nil:
		l.End()
		return err
	case f.Kind == wire.Notification:
		l.recycle(f)
	default:
		l.Inflight.Add(1)
		l.finish(f, a)
	}
	return nil
}

// readAll reads requests and queues them until the connection ends or violates the protocol.
func (l *Link) readAll(a Answerer) error {
	r := l.Reader(l.Conn)
	r.Partial = func(more bool) {
		if !l.Admitted() {
			return
		}
		var until time.Time
		if more {
			l.claim.Began()
			until = time.Now().Add(l.c.Limits.FrameTimeout)
		}
		l.readUntil(until)
	}
	_ = l.Conn.SetReadDeadline(time.Now().Add(l.c.Limits.HelloTimeout))
	for {
		f, err := l.read(r)
		if err != nil {
			return err
		}
		switch most := int64(l.c.Limits.MaxInflight); {
		case f.Kind == wire.Notification:
			l.recycle(f)
		case l.c.Draining():
			l.Fail(f.ID, wire.Errorf(wire.Draining, "the server is shutting down: connect again later"))
			l.recycle(f)
		case int64(l.Inflight.Load()) > most: // the one being answered does not count
			l.Fail(f.ID, wire.Exceeds("max_inflight", most, most+1, "--max-inflight").Recode(wire.Busy, 10))
			l.recycle(f)
		default:
			if idle := l.Inflight.Add(1) == 1; idle && l.Admitted() && a.Quick(f) {
				l.finish(f, a)
			} else {
				l.queue <- f
				select {
				case l.Arrived <- struct{}{}:
				default:
				}
			}
		}
	}
}

// Waiting reports whether a request waits for its answer, beside the one being answered.
func (l *Link) Waiting() bool { return len(l.queue) > 0 }

// limit is the largest length of a request for a method, nil while it is not known.
func (l *Link) limit(method []byte) int {
	if method == nil || !l.Admitted() {
		return limits.BeforeHello
	}
	switch l.c.Size(method) {
	case Steps:
		return max(limits.Control, int(l.stepLimit.Load()))
	case Bulk:
		return l.c.Limits.MaxMessage
	}
	return min(limits.Control, l.c.Limits.MaxMessage)
}

// finish has a request answered, unless the connection has ended, and recycles its frame.
func (l *Link) finish(f *wire.Frame, a Answerer) {
	if l.Context.Err() == nil {
		a.Answer(f)
	}
	l.recycle(f)
	l.Inflight.Add(-1)
}
