package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Status is what the process of a run says of it.
type Status struct {
	Run       string      `json:"run"`
	Kind      string      `json:"kind"`
	Game      string      `json:"game"`
	Epoch     uint64      `json:"epoch"`
	Iteration int         `json:"iteration"` // that is played now; by default, jobs whose result was counted
	Open      int         `json:"open"`      // jobs without a result
	Queued    uint64      `json:"queued"`    // jobs that no worker has yet
	Unread    uint64      `json:"unread"`    // results that the process has not taken yet
	Workers   []WorkerRow `json:"workers"`
}

// Ask returns the status of every run that a broker knows, from the run's own process. Runs whose process does not
// answer are named with the reason.
func Ask(ctx context.Context, nc *nats.Conn) (all []Status, quiet map[string]string, err error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, nil, err
	}
	kv, err := openRuns(ctx, js, false)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, explain(err)
	}
	runs, err := getAll(ctx, kv)
	quiet = map[string]string{}
	for _, r := range runs {
		if r.State != Running {
			quiet[r.ID] = r.Game + ", " + r.State
			continue
		}
		s, err := ask(ctx, nc, r.ID)
		if err != nil {
			quiet[r.ID] = fmt.Sprintf("%s, its process does not answer: %v", r.Game, err)
			continue
		}
		all = append(all, s)
	}
	return all, quiet, err
}

// ask returns the status of a run.
func ask(ctx context.Context, nc *nats.Conn, run string) (s Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // a process that has just gone never answers
	defer cancel()
	reply, err := nc.RequestWithContext(ctx, subject(run, "status"), nil)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(reply.Data, &s)
}

// alive reports whether the process of a run may be alive: false if nobody listens to its subjects.
func alive(ctx context.Context, nc *nats.Conn, run string) bool {
	_, err := ask(ctx, nc, run)
	return !errors.Is(err, nats.ErrNoResponders)
}

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
