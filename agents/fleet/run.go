package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Version is that of Run and of all messages. Servers and workers of different versions refuse each other.
const Version = 5

// A Run is what the broker says of a run.
type Run struct {
	Version int               `json:"version"`
	ID      string            `json:"run"`
	Kind    string            `json:"kind,omitempty"` // of its jobs
	Game    string            `json:"game"`
	State   string            `json:"state"`          // "": only Epoch is left
	Once    bool              `json:"once,omitempty"` // no other process can continue the run
	Limits  Limits            `json:"limits"`
	Facts   map[string]string `json:"facts,omitempty"` // in which a worker must agree; see Agree
	Spec    json.RawMessage   `json:"spec,omitempty"`  // what else a worker must know; the kind defines it

	Epoch  uint64 `json:"epoch"`            // counts the processes that have driven the run
	Holder string `json:"holder,omitempty"` // that process, for people
	Token  string `json:"token,omitempty"`  // of that process alone
	Beat   int    `json:"beat,omitempty"`   // counts renewals
	Free   bool   `json:"free,omitempty"`   // that process has given the run back

	Excluded map[string]string `json:"excluded,omitempty"` // workers that must leave, and why

	revision uint64    // of its entry in the bucket
	written  time.Time // by the clock of the broker
}

// Limits say how long a run waits for a worker, and how often it tries a job.
type Limits struct {
	AckWait    time.Duration `json:"ack_wait"`   // after which the job of a silent worker is given to another one
	Deliveries int           `json:"deliveries"` // of a job, before the run gives it up
}

// DefaultLimits suit jobs of any length: a worker says three times per AckWait that it still plays.
var DefaultLimits = Limits{AckWait: 10 * time.Second, Deliveries: 8}

// The states of a run.
const (
	Running = "running"
	Paused  = "paused" // its process has stopped and can continue it
	Done    = "done"
)

// ErrNoRun says that the broker has no run with this id: it is over, or it was on another broker.
var ErrNoRun = errors.New("the broker has no such run")

// ErrRefused says that this worker must not play for the run. An error that wraps it says why.
var ErrRefused = errors.New("this worker is refused")

// admit returns an error, which wraps ErrRefused, if a worker was excluded.
func (r *Run) admit(worker string) error {
	if why, ok := r.Excluded[worker]; ok {
		return fmt.Errorf("%w: run %s: %s", ErrRefused, r.ID, why)
	}
	return nil
}

// Agree returns an error if this program differs from the run's process in a fact.
func (r *Run) Agree(ours map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(r.Facts)) {
		if theirs := r.Facts[name]; theirs != ours[name] {
			return r.differ(name, theirs, ours[name])
		}
	}
	return nil
}

func (r *Run) differ(fact, theirs, ours string) error {
	return fmt.Errorf("run %s: its process has %s %s, this worker %s: run the same program", r.ID, fact, theirs, ours)
}

// AgreeSelfTest returns an error that wraps ErrRefused if the run's process has another SHA-256 of a self-test.
func (r *Run) AgreeSelfTest(of, theirs, ours string) error {
	if theirs == ours {
		return nil
	}
	return fmt.Errorf("%w: run %s: its self-test of %s gives %.12s, that of the run's process %.12s. Evaluation, "+
		"sampling or moves differ: run the same program on a processor of the same architecture and features",
		ErrRefused, r.ID, of, ours, theirs)
}

// Hash returns the SHA-256 of values as JSON, in hexadecimal.
func Hash(values ...any) string {
	h := sha256.New()
	for _, v := range values {
		h.Write(JSON(v))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// JSON returns v, which has plain fields, as JSON.
func JSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain fields with finite numbers
	}
	return b
}

var goodName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckName refuses names of workers and runs that cannot be part of a subject or would break a table.
func CheckName(name string) error {
	if !goodName.MatchString(name) {
		return fmt.Errorf("name %.70q: want 1 to 64 letters, digits, '-' or '_'", name)
	}
	return nil
}

// The names of what a run has in the broker.
func runKey(run string) string        { return "spec." + run }
func objectsBucket(run string) string { return "blockyard-" + run + "-nets" }
func subject(run, what string) string { return "blockyard." + run + "." + what }
func queueName(run string, epoch uint64, what string) string {
	return fmt.Sprintf("blockyard-%s-%d-%s", run, epoch, what)
}

// openRuns opens the bucket of runs, and creates it if create is true.
func openRuns(ctx context.Context, js jetstream.JetStream, create bool) (jetstream.KeyValue, error) {
	if !create {
		return js.KeyValue(ctx, "blockyard-runs")
	}
	return js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: "blockyard-runs", Description: "runs of Blockyard", MaxBytes: 16 << 20,
	})
}

// get reads a run; ErrNoRun if there is no entry.
func get(ctx context.Context, kv jetstream.KeyValue, run string) (*Run, error) {
	e, err := kv.Get(ctx, runKey(run))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, ErrNoRun
	} else if err != nil {
		return nil, err
	}
	r := &Run{revision: e.Revision(), written: e.Created()}
	if err := json.Unmarshal(e.Value(), r); err != nil {
		return nil, fmt.Errorf("run %s: not the description of a run: %w", run, err)
	}
	r.ID = run
	return r, nil
}

// getAll reads all runs of which more than the epoch is left.
func getAll(ctx context.Context, kv jetstream.KeyValue) (all []*Run, err error) {
	keys, err := kv.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, nil
	}
	for _, key := range keys {
		switch r, err := get(ctx, kv, strings.TrimPrefix(key, runKey(""))); {
		case errors.Is(err, ErrNoRun): // it was removed in between
		case err != nil:
			return nil, err
		case r.State != "":
			all = append(all, r)
		}
	}
	return all, err
}

// KeepFor is how long a broker keeps what a run without a process has left; a run that goes on puts it there again.
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
func remove(ctx context.Context, js jetstream.JetStream, kv jetstream.KeyValue, r *Run) (err error) {
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

func wrongRevision(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) ||
		errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}

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

// Ask returns the status of every run of a broker, from its own process, and why the others do not answer.
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
		} else if s, err := ask(ctx, nc, r.ID); err != nil {
			quiet[r.ID] = fmt.Sprintf("%s, its process does not answer: %v", r.Game, err)
		} else {
			all = append(all, s)
		}
	}
	return all, quiet, err
}

// askFor is how long a process may take to answer. One that has just gone never does.
const askFor = 5 * time.Second

func ask(ctx context.Context, nc *nats.Conn, run string) (s Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	reply, err := nc.RequestWithContext(ctx, subject(run, "status"), nil)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(reply.Data, &s)
}

// alive reports whether somebody listens to the subjects of a run.
func alive(ctx context.Context, nc *nats.Conn, run string) bool {
	_, err := ask(ctx, nc, run)
	return !errors.Is(err, nats.ErrNoResponders)
}
