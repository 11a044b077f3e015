package fleet

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// KeepFor is how long a broker keeps what a run has left there whose process is gone. A run that is continued later
// puts it there again.
const KeepFor = 7 * 24 * time.Hour

// sweep removes the runs that gave no sign of life for a time: nothing was written to the entry, and no process
// listens. All times are the broker's; now is that of the entry of run, which the caller has just written.
func sweep(ctx context.Context, nc *nats.Conn, js jetstream.JetStream, kv jetstream.KeyValue, run string,
	keep time.Duration) (removed []string, err error) {
	own, err := get(ctx, kv, run)
	if err != nil {
		return nil, err
	}
	all, err := getAll(ctx, kv)
	for _, r := range all {
		if r.ID == run || own.written.Sub(r.written) < keep || alive(ctx, nc, r.ID) {
			continue
		}
		if err := remove(ctx, js, kv, r); err != nil {
			return removed, err
		}
		removed = append(removed, r.ID)
	}
	return removed, err
}

// remove removes what a run has in the broker, except the number of its epoch if it can be continued.
func remove(ctx context.Context, js jetstream.JetStream, kv jetstream.KeyValue, r *entry) (err error) {
	if r.Once {
		err = kv.Purge(ctx, runKey(r.ID), jetstream.LastRevision(r.revision))
	} else {
		left := Run{Version: Version, ID: r.ID, Epoch: r.Epoch, Free: true}
		_, err = kv.Update(ctx, runKey(r.ID), JSON(left), r.revision)
	}
	if wrongRevision(err) {
		return nil // it has just been continued
	}
	return errors.Join(err, removeQueues(ctx, js, r.ID, math.MaxUint64), deleteObjects(ctx, js, r.ID))
}
