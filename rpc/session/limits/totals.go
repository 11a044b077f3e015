package limits

import (
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

	Took func(time.Duration) // gets how long each step of clients took, in its goroutine; it is set before the first
}
