package limits

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Totals count what clients have had a server do since its start. Any goroutine may add to them and read them.
type Totals struct {
	Requests  atomic.Uint64
	Steps     atomic.Uint64 // of handles
	SeatSteps atomic.Uint64 // steps times rows
	Illegal   atomic.Uint64 // illegal actions of clients that were replaced
	Decisions atomic.Uint64 // choices of the server's opponents
	Received  atomic.Uint64 // bytes of requests
	Sent      atomic.Uint64 // bytes of responses, without slabs in shared memory
	Took      Timings       // of steps
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

// Timings are Durations being counted.
type Timings struct {
	sum     atomic.Int64
	buckets [len(Durations{}.Buckets)]atomic.Uint64
}

// Observe counts one duration. It is short and allocates nothing.
func (t *Timings) Observe(took time.Duration) {
	t.sum.Add(int64(took))
	k := bits.Len64(uint64(max(took, 1)) - 1) // the least k with took <= 2^k
	t.buckets[min(max(k, firstBucket), lastBucket+1)-firstBucket].Add(1)
}

// Read returns the durations counted so far.
func (t *Timings) Read() (out Durations) {
	out.Sum = time.Duration(t.sum.Load())
	for k := range t.buckets {
		out.Buckets[k] = t.buckets[k].Load()
	}
	return out
}
