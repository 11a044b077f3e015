package teams

import (
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
		q.take(q.crowding()).called <- ErrBusy
	}
	q.mu.Unlock()
	select {
	case err := <-t.called:
		return err
	case <-ctx.Done():
	}
	q.mu.Lock()
	k := slices.Index(q.waiting, t)
	if k >= 0 {
		q.take(k)
	}
	q.mu.Unlock()
	if k < 0 && <-t.called == nil {
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
	best := 0
	for k, t := range q.waiting {
		b := q.waiting[best]
		address, bestAddress := q.last[[2]string{t.from}], q.last[[2]string{b.from}]
		if address < bestAddress || address == bestAddress && t.from == b.from && q.last[t.key()] < q.last[b.key()] {
			best = k
		}
	}
	t := q.take(best)
	if q.last == nil {
		q.last = map[[2]string]uint64{}
	}
	q.turns++
	q.last[[2]string{t.from}], q.last[t.key()] = q.turns, q.turns
	t.called <- nil
}

// key is that of an address and a team. The 1 tells it from that of the address.
func (t *ticket) key() [2]string { return [2]string{t.from, "1" + t.team} }

// take removes a ticket. The caller holds q.mu.
func (q *queue) take(k int) *ticket {
	t := q.waiting[k]
	q.waiting = slices.Delete(q.waiting, k, k+1)
	return t
}

// crowding is the index of the last ticket of the address that has most of them, for the team that
// has most of these. The caller holds q.mu.
func (q *queue) crowding() int {
	count := map[[2]string]int{}
	for _, t := range q.waiting {
		count[[2]string{t.from}]++
		count[t.key()]++
	}
	most := 0
	for k, t := range q.waiting {
		m := q.waiting[most]
		address, mostAddress := count[[2]string{t.from}], count[[2]string{m.from}]
		if address > mostAddress || address == mostAddress && count[t.key()] >= count[m.key()] {
			most = k
		}
	}
	return most
}
