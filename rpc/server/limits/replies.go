package limits

import (
	"runtime"
	"sync"
	"sync/atomic"

	"blockyard/rpc/wire"
)

// Replies are the bytes of responses being built, and those of dropped messages.
type Replies struct {
	most       int64
	building   atomic.Int64
	garbage    atomic.Int64 // since the last collection
	collecting sync.Mutex
}

// Building returns the bytes of responses being built.
func (r *Replies) Building() int64 { return r.building.Load() }

// mostGarbage is how many bytes of dropped messages may wait for the garbage collector. On its own
// the collector would let them grow in proportion to the open games.
const mostGarbage = 8 << 20

// Dropped counts n bytes of messages that are not used any more.
func (r *Replies) Dropped(n int) { r.garbage.Add(int64(n)) }

// Collect runs the garbage collector if there is much garbage. Others that need memory wait.
func (r *Replies) Collect() {
	if r.garbage.Load() < mostGarbage {
		return
	}
	r.collecting.Lock()
	defer r.collecting.Unlock()
	if r.garbage.Load() >= mostGarbage {
		runtime.GC()
		r.garbage.Store(0)
	}
}

// Reserve counts n bytes of a response being built, until release.
func (r *Replies) Reserve(n int) (release func(), err error) {
	v := r.Reservation()
	return v.Release, v.Add(n)
}

// Reservation returns an empty reservation.
func (r *Replies) Reservation() *Reservation { return &Reservation{of: r} }

// A Reservation is the bytes of a response being built.
type Reservation struct {
	of *Replies
	n  int
}

// Add counts n bytes more, or fails and leaves the reservation as it is.
func (v *Reservation) Add(n int) error {
	v.of.Collect()
	if have := v.of.building.Add(int64(n)); have > v.of.most {
		v.of.building.Add(int64(-n))
		return wire.Exceeds("max_replies", v.of.most, have, "--max-replies").Recode(wire.Busy, 50)
	}
	v.n += n
	return nil
}

// Release ends the reservation.
func (v *Reservation) Release() {
	v.of.Dropped(v.n)
	v.of.building.Add(int64(-v.n))
	v.n = 0
}
