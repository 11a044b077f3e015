package server

import (
	"io"
	"math/bits"
	"strconv"
	"sync/atomic"
	"time"

	"blockyard/env/vec"
	"blockyard/rpc/server/limits"
	"blockyard/rpc/wire"
)

// Counts are what a server has done since its start and what is open now. They may be read at any time.
type Counts struct {
	Requests  uint64
	Steps     uint64 // of handles
	SeatSteps uint64 // steps times rows
	Illegal   uint64 // illegal actions of clients that were replaced
	Decisions uint64 // choices of the server's opponents
	Received  uint64 // bytes of requests
	Sent      uint64 // bytes of responses, without slabs in shared memory
	Errors    []ErrorCount
	Durations Durations // of requests step and step_slot, from their actions to their slab

	limits.Open                      // now; Memory is bytes towards MaxMemory
	RequestMemory, ReplyMemory int64 // bytes towards MaxBuffered and MaxReplies
	RequestMemoryLimit         int64 // MaxBuffered without each session's own share, like RequestMemory
}

// An ErrorCount is how often a request failed with one code.
type ErrorCount struct {
	Code, Name string // such as "400" and "illegal_action"
	Count      uint64
}

// Durations are a histogram with bounds of 2^12 to 2^34 ns, that is, 4 µs to 17 s.
type Durations struct {
	Sum     time.Duration
	Buckets [lastBucket - firstBucket + 2]uint64 // not cumulated; the last is of longer durations
}

const (
	firstBucket = 12
	lastBucket  = 34
)

// Bound returns the longest duration of a bucket but the last.
func (d *Durations) Bound(bucket int) time.Duration { return 1 << (firstBucket + bucket) }

// durations are Durations being counted. Observe is short and allocates nothing.
type durations struct {
	sum     atomic.Int64
	buckets [len(Durations{}.Buckets)]atomic.Uint64
}

func (d *durations) observe(took time.Duration) {
	d.sum.Add(int64(took))
	k := bits.Len64(uint64(max(took, 1)) - 1) // the least k with took <= 2^k
	d.buckets[min(max(k, firstBucket), lastBucket+1)-firstBucket].Add(1)
}

func (d *durations) read() (out Durations) {
	out.Sum = time.Duration(d.sum.Load())
	for k := range d.buckets {
		out.Buckets[k] = d.buckets[k].Load()
	}
	return out
}

// Counts returns what the server has done and has open.
func (s *Server) Counts() Counts {
	c := Counts{
		Requests: s.requests.Load(), Steps: s.steps.Load(), SeatSteps: s.rows.Load(), Illegal: s.illegal.Load(),
		Decisions: s.decisions.Load(), Received: s.received.Load(), Sent: s.sent.Load(), Durations: s.took.read(),
		RequestMemory: s.buffers.Taken(), RequestMemoryLimit: s.buffers.Most(), ReplyMemory: s.ledger.Building(),
		Open: s.ledger.Open(),
	}
	for _, code := range wire.Codes() {
		c.Errors = append(c.Errors, ErrorCount{strconv.Itoa(code), wire.Errorf(code, "").Name, s.failures[code].Load()})
	}
	return c
}

// A tally is how many illegal actions and choices of agents in some games have been counted.
type tally struct{ illegal, decisions uint64 }

// count adds what has come since the last call, and returns how many illegal actions these are.
func (s *Server) count(t *tally, e *vec.Env) (more uint64) {
	illegal, decisions := e.Counted()
	if more = illegal - t.illegal; more != 0 {
		s.illegal.Add(more)
	}
	if n := decisions - t.decisions; n != 0 {
		s.decisions.Add(n)
	}
	t.illegal, t.decisions = illegal, decisions
	return more
}

// A countingReader counts the bytes that it reads.
type countingReader struct {
	io.Reader
	n *atomic.Uint64
}

// Read implements io.Reader.
func (r countingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.n.Add(uint64(n))
	return n, err
}
