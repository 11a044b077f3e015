package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A lease lets one learner drive a run. Its holder renews it; who finds one that is not renewed for leaseFor takes
// it with the next epoch. Each side measures with its own clock, so that clocks need not agree.
type lease struct {
	kv    jetstream.KeyValue
	key   string
	value leaseValue

	mu       sync.Mutex
	revision uint64
	renewed  time.Time
	lost     error // why the lease is lost for good
}

type leaseValue struct {
	Epoch  uint64 `json:"epoch"`
	Holder string `json:"holder"` // host and process, for people
	Token  string `json:"token"`  // of this holder alone
	Beat   int    `json:"beat"`   // counts renewals
	Free   bool   `json:"free"`   // given back
}

// leaseFor is how long a lease lasts without being renewed.
var leaseFor = 10 * time.Second

// ErrDriven says that another learner drives the run.
var ErrDriven = errors.New("another learner drives this run")

// takeLease takes the lease of a run. alone says that nobody else can reach the broker, so that a lease of a
// learner that was killed need not run out first.
func takeLease(ctx context.Context, kv jetstream.KeyValue, run, holder, token string, alone bool) (*lease, error) {
	l := &lease{kv: kv, key: leaseKey(run), value: leaseValue{Epoch: 1, Holder: holder, Token: token}}
	e, err := kv.Get(ctx, l.key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		l.revision, err = kv.Create(ctx, l.key, l.text())
		return l.taken(err)
	} else if err != nil {
		return nil, err
	}
	var old leaseValue
	if err := json.Unmarshal(e.Value(), &old); err != nil {
		return nil, fmt.Errorf("the lease of run %s: %w", run, err)
	}
	for until := time.Now().Add(leaseFor + leaseFor/5); !old.Free && !alone && time.Now().Before(until); {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(leaseFor / 20):
		}
		now, err := kv.Get(ctx, l.key)
		if err != nil {
			return nil, err
		}
		if now.Revision() != e.Revision() {
			return nil, fmt.Errorf("%w: %s. Stop it first, or start a run of its own", ErrDriven, old.Holder)
		}
	}
	l.value.Epoch = old.Epoch + 1
	l.revision, err = kv.Update(ctx, l.key, l.text(), e.Revision())
	return l.taken(err)
}

func (l *lease) taken(err error) (*lease, error) {
	if wrongRevision(err) {
		return nil, fmt.Errorf("%w: it took the lease just now", ErrDriven)
	}
	l.renewed = time.Now()
	return l, err
}

func (l *lease) text() []byte {
	b, err := json.Marshal(l.value)
	if err != nil {
		panic(err) // plain fields
	}
	return b
}

// hold renews the lease until ctx ends. It returns why the lease is lost, nil if ctx ended first. It calls away when
// the lease could not be renewed, and returns its error.
func (l *lease) hold(ctx context.Context, away func(error) error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(leaseFor / 4):
		}
		err := l.renew(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrDriven) {
			err = away(err)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// renew renews the lease. The error wraps ErrDriven if another learner has it; others may pass.
func (l *lease) renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	ctx, cancel := context.WithTimeout(ctx, leaseFor/2)
	defer cancel()
	began := time.Now()
	l.value.Beat++
	revision, err := l.kv.Update(ctx, l.key, l.text(), l.revision)
	if wrongRevision(err) {
		var e jetstream.KeyValueEntry
		if e, err = l.kv.Get(ctx, l.key); err == nil {
			var now leaseValue
			if err := json.Unmarshal(e.Value(), &now); err != nil || now.Token != l.value.Token {
				l.lost = fmt.Errorf("%w: %s took over. This one has stopped; nothing that it played since counts",
					ErrDriven, now.Holder)
				return l.lost
			}
			revision = e.Revision() // an earlier renewal arrived, its reply did not
		}
	}
	if err == nil {
		l.revision, l.renewed = revision, began
	}
	return err
}

// held returns nil if the lease cannot have run out. It renews one that could have.
func (l *lease) held(ctx context.Context) error {
	l.mu.Lock()
	fresh := l.lost == nil && time.Since(l.renewed) < leaseFor/2
	l.mu.Unlock()
	if fresh {
		return nil
	}
	return l.renew(ctx)
}

// free gives the lease back.
func (l *lease) free(ctx context.Context) error {
	l.mu.Lock()
	l.value.Free = true
	l.mu.Unlock()
	return l.renew(ctx)
}

func wrongRevision(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) ||
		errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}
