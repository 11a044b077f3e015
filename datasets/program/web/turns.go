package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrBusy is the error for a request that may not wait for its turn.
var ErrBusy = errors.New("too many requests are waiting for their turn")

// MaxWaiting requests may wait for their turn. One more takes the place of the last one of the client that has most.
const MaxWaiting = 256

// Turns let one request at a time do what is slow. Next is the client that has waited longest since its last turn, and
// of its requests one for the object, such as an account, that has waited longest. However many requests come from
// some clients and for some objects, others wait for one of each at most. The zero value is ready for use.
type Turns struct {
	mu      sync.Mutex
	busy    bool
	waiting []*ticket            // in the order of their arrival
	turns   uint64               // how many there have been
	last    map[[2]string]uint64 // the last turn of a client, and of a client and object; 0 is none
}

// A ticket is a request that waits for its turn, or may wait no longer.
type ticket struct {
	client, object string
	called         chan error // nil: it is its turn; else it may not wait
}

// Enter waits for a turn. Unless there is an error, of ctx or ErrBusy, Leave must be called.
func (q *Turns) Enter(ctx context.Context, client, object string) error {
	t := &ticket{client, object, make(chan error, 1)}
	q.mu.Lock()
	q.waiting = append(q.waiting, t)
	if !q.busy {
		q.next()
	} else if len(q.waiting) > MaxWaiting {
		q.refuse()
	}
	q.mu.Unlock()
	select {
	case err := <-t.called:
		return err
	case <-ctx.Done():
	}
	q.mu.Lock()
	waited := q.remove(t)
	q.mu.Unlock()
	if !waited && <-t.called == nil {
		q.Leave()
	}
	return ctx.Err()
}

// Leave ends a turn: the client that has waited longest since its last one is next.
func (q *Turns) Leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next()
}

// Waiting returns how many requests wait.
func (q *Turns) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// next begins the next turn, if any request waits. The caller holds q.mu.
func (q *Turns) next() {
	if q.busy = len(q.waiting) > 0; !q.busy || len(q.last) > 4*MaxWaiting {
		q.last = nil
	}
	if !q.busy {
		return
	}
	first := slices.MinFunc(q.waiting, func(a, b *ticket) int { return compare(q.last, a, b) })
	q.remove(first)
	if q.turns++; q.last == nil {
		q.last = map[[2]string]uint64{}
	}
	q.last[[2]string{first.client}], q.last[first.key()] = q.turns, q.turns
	first.called <- nil
}

// refuse refuses the last ticket of the client, and for its object, that has most of them. The caller holds q.mu.
func (q *Turns) refuse() {
	count := map[[2]string]uint64{}
	last := q.waiting[0]
	for _, t := range q.waiting {
		count[[2]string{t.client}]++
		count[t.key()]++
	}
	for _, t := range q.waiting {
		if compare(count, t, last) >= 0 {
			last = t
		}
	}
	q.remove(last)
	last.called <- ErrBusy
}

// compare compares two tickets by what is known of their clients, then of their clients and objects.
func compare(known map[[2]string]uint64, a, b *ticket) int {
	byClient := cmp.Compare(known[[2]string{a.client}], known[[2]string{b.client}])
	return cmp.Or(byClient, cmp.Compare(known[a.key()], known[b.key()]))
}

// key is that of a client and an object. The 1 tells it from that of the client.
func (t *ticket) key() [2]string { return [2]string{t.client, "1" + t.object} }

// remove takes a ticket from those that wait, and reports whether it was one. The caller holds q.mu.
func (q *Turns) remove(t *ticket) bool {
	k := slices.Index(q.waiting, t)
	if k >= 0 {
		q.waiting = slices.Delete(q.waiting, k, k+1)
	}
	return k >= 0
}
