package teams

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrBusy says that too many passwords are waiting to be checked.
var ErrBusy = errors.New("too many passwords are waiting to be checked")

// maxWaiting is the number of passwords that may wait. One from another address takes the place of
// the last one from the address that has most of them.
const maxWaiting = 256

// A queue lets one password be checked at a time. Next is the address that has waited longest
// since its last turn, and of its passwords one for the team that has waited longest. So however
// many guesses come from some addresses and for some teams, others wait for one of each at most.
type queue struct {
	mu      sync.Mutex
	busy    bool
	waiting []*ticket            // in the order of their arrival
	turns   uint64               // how many there have been
	last    map[[2]string]uint64 // the last turn of an address, and of an address and team; 0 is none
}

// A ticket is a password that waits.
type ticket struct {
	from, team string
	called     chan error // nil: it is its turn; else it may not wait
}

// enter waits for the turn of a password from an address for a team. Unless there is an error,
// which is that of ctx or ErrBusy, leave must be called.
func (q *queue) enter(ctx context.Context, from, team string) error {
	t := &ticket{from, team, make(chan error, 1)}
	q.mu.Lock()
	q.waiting = append(q.waiting, t)
	if !q.busy {
		q.next()
	} else if len(q.waiting) > maxWaiting {
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
		q.leave()
	}
	return ctx.Err()
}

// leave ends the turn.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next()
}

// next begins the next turn, if any password waits. The caller holds q.mu.
func (q *queue) next() {
	if q.busy = len(q.waiting) > 0; !q.busy || len(q.last) > 4*maxWaiting {
		q.last = nil
	}
	if !q.busy {
		return
	}
	first := slices.MinFunc(q.waiting, func(a, b *ticket) int { return compare(q.last, a, b) })
	q.remove(first)
	if q.last == nil {
		q.last = map[[2]string]uint64{}
	}
	q.turns++
	q.last[[2]string{first.from}], q.last[first.key()] = q.turns, q.turns
	first.called <- nil
}

// refuse refuses the last ticket of the address that has most of them, for the team that has most of these. The caller
// holds q.mu.
func (q *queue) refuse() {
	count := map[[2]string]uint64{}
	last := q.waiting[0]
	for _, t := range q.waiting {
		count[[2]string{t.from}]++
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

// compare compares two tickets by what is known of their addresses, then of their addresses and teams.
func compare(known map[[2]string]uint64, a, b *ticket) int {
	return cmp.Or(cmp.Compare(known[[2]string{a.from}], known[[2]string{b.from}]), cmp.Compare(known[a.key()], known[b.key()]))
}

// key is that of an address and a team. The 1 tells it from that of the address.
func (t *ticket) key() [2]string { return [2]string{t.from, "1" + t.team} }

// remove takes a ticket from those that wait, and reports whether it was one. The caller holds q.mu.
func (q *queue) remove(t *ticket) bool {
	k := slices.Index(q.waiting, t)
	if k >= 0 {
		q.waiting = slices.Delete(q.waiting, k, k+1)
	}
	return k >= 0
}
