package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A lease is the entry of a run that one process drives. The process renews it; whoever finds one that is not renewed
// for leaseFor takes it with the next epoch. Each side measures with its own clock, so that clocks need not agree.
type lease struct {
	kv    jetstream.KeyValue
	clock clock

	mu       sync.Mutex
	run      Run
	revision uint64
	renewed  time.Time
	lost     error // why the lease is lost for good
}

// A clock measures times; tests replace it.
type clock struct {
	now   func() time.Time
	after func(time.Duration) <-chan time.Time
}

var monotonic = clock{time.Now, time.After}

const leaseFor = 10 * time.Second

var ErrDriven = errors.New("another process drives this run")

// take takes the lease. alone: nobody else can reach the broker, so that the lease of a dead process need not run out.
func (l *lease) take(ctx context.Context, alone bool) error {
	old, err := get(ctx, l.kv, l.run.ID)
	if errors.Is(err, ErrNoRun) {
		old = &Run{Free: true}
	} else if err != nil {
		return err
	}
	for until := l.clock.now().Add(leaseFor + leaseFor/5); !old.Free && !alone && l.clock.now().Before(until); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.clock.after(leaseFor / 20):
		}
		now, err := get(ctx, l.kv, l.run.ID)
		if err != nil {
			return err
		}
		if now.revision != old.revision {
			return fmt.Errorf("%w: %s. Stop it first, or start a run of its own", ErrDriven, old.Holder)
		}
	}
	l.run.Epoch = old.Epoch + 1
	l.renewed = l.clock.now()
	if old.revision == 0 {
		l.revision, err = l.kv.Create(ctx, runKey(l.run.ID), JSON(l.run))
	} else {
		l.revision, err = l.kv.Update(ctx, runKey(l.run.ID), JSON(l.run), old.revision)
	}
	if wrongRevision(err) {
		return fmt.Errorf("%w: it took the lease just now", ErrDriven)
	}
	return err
}

// write renews the lease and may change the entry. ErrDriven: another process has it; other errors may pass.
func (l *lease) write(ctx context.Context, change func(*Run)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	ctx, cancel := context.WithTimeout(ctx, leaseFor/2)
	defer cancel()
	began := l.clock.now()
	l.run.Beat++
	if change != nil {
		change(&l.run)
	}
	revision, err := l.kv.Update(ctx, runKey(l.run.ID), JSON(l.run), l.revision)
	for wrongRevision(err) {
		now, e := get(ctx, l.kv, l.run.ID)
		if e != nil {
			return e
		}
		if now.Token != l.run.Token {
			l.lost = fmt.Errorf("%w: %s took over. This one has stopped; nothing that it played since counts",
				ErrDriven, cmp.Or(now.Holder, "nobody"))
			return l.lost
		}
		// an earlier renewal arrived, its reply did not
		revision, err = l.kv.Update(ctx, runKey(l.run.ID), JSON(l.run), now.revision)
	}
	if err == nil {
		l.revision, l.renewed = revision, began
	}
	return err
}

// held returns nil if the lease cannot have run out. It renews one that could have.
func (l *lease) held(ctx context.Context) error {
	l.mu.Lock()
	fresh := l.lost == nil && l.clock.now().Sub(l.renewed) < leaseFor/2
	l.mu.Unlock()
	if fresh {
		return nil
	}
	return l.write(ctx, nil)
}

func wrongRevision(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) ||
		errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}
