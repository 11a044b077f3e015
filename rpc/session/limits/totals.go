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

const (
	firstBucket = 12
	lastBucket  = 34
)

// Timings are a histogram of durations with bounds of 2^12 to 2^34 ns, that is, 4 µs to 17 s.
type Timings struct {
	sum     atomic.Int64
	buckets [lastBucket - firstBucket + 2]atomic.Uint64 // not cumulated; the last is of longer durations
}

// Observe counts one duration. It is short and allocates nothing.
func (t *Timings) Observe(took time.Duration) {
	t.sum.Add(int64(took))
	k := bits.Len64(uint64(max(took, 1)) - 1) // the least k with took <= 2^k
	t.buckets[min(max(k, firstBucket), lastBucket+1)-firstBucket].Add(1)
}

// Read returns the durations counted so far: how many, their sum, and how many of them do not exceed each bound, in
// seconds.
func (t *Timings) Read() (count uint64, sum time.Duration, upTo map[float64]uint64) {
	upTo = map[float64]uint64{}
	for k := range t.buckets {
		if count += t.buckets[k].Load(); k < len(t.buckets)-1 {
			upTo[time.Duration(1<<(firstBucket+k)).Seconds()] = count
		}
	}
	return count, time.Duration(t.sum.Load()), upTo
}
