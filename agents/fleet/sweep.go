package fleet

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// KeepFor is how long a broker keeps what a run or a match has left there whose process is gone. A run that is
// continued later puts it there again.
const KeepFor = 7 * 24 * time.Hour

// queueOf is the rest of the name of a queue after that of its run.
var queueOf = regexp.MustCompile(`^\d+-(tasks|results)$`)

// Sweep removes the specs, objects and queues of runs that gave no sign of life for a time: nothing of theirs in the
// bucket was written, and no process listens. A run's lease stays, so that its epochs go on. All times are the
// broker's; now is that of the spec of run, which the caller has just written.
func Sweep(ctx context.Context, nc *nats.Conn, js jetstream.JetStream, kv jetstream.KeyValue, run string,
	keep time.Duration) (removed []string, err error) {
	own, err := kv.Get(ctx, SpecKey(run))
	if err != nil {
		return nil, err
	}
	keys, err := kv.Keys(ctx)
	if err != nil {
		return nil, err
	}
	last := map[string]time.Time{} // sign of life, by run
	specs := map[string]bool{}
	for _, key := range keys {
		what, of, _ := strings.Cut(key, ".")
		e, err := kv.Get(ctx, key)
		if err != nil {
			continue // it was deleted in between
		}
		if e.Created().After(last[of]) {
			last[of] = e.Created()
		}
		if what == "spec" {
			specs[of] = true
		}
	}
	for of := range specs {
		if of == run || own.Created().Sub(last[of]) < keep || Alive(ctx, nc, of) {
			continue
		}
		if err := remove(ctx, js, kv, of); err != nil {
			return removed, err
		}
		removed = append(removed, of)
	}
	return removed, nil
}

// remove removes what a run has in the broker, except its lease.
func remove(ctx context.Context, js jetstream.JetStream, kv jetstream.KeyValue, run string) error {
	names := js.StreamNames(ctx)
	var queues []string
	for name := range names.Name() {
		if rest, ok := strings.CutPrefix(name, "blockyard-"+run+"-"); ok && queueOf.MatchString(rest) {
			queues = append(queues, name)
		}
	}
	err := names.Err()
	for _, name := range queues {
		err = errors.Join(err, ignore(js.DeleteStream(ctx, name), jetstream.ErrStreamNotFound))
	}
	return errors.Join(err, ignore(DeleteObjects(ctx, js, run), jetstream.ErrBucketNotFound),
		kv.Purge(ctx, SpecKey(run)))
}

// ignore returns err unless it is the one that is expected.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
