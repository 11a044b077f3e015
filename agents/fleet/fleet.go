// Package fleet lets worker processes, on one machine or many, do the jobs of a run. It knows no game: a run has a
// kind, such as a match (package matches) or rollouts of self-play (package train/cluster), which defines what a job
// contains and what its result means. Processes exchange jobs and results through a NATS server; see package broker.
//
// # Life of a run
//
//  1. Announce. The run's process has a Server. It writes the Run to the broker: its kind, spec, facts and limits. The
//     entry is also a lease: the Server renews it, and whoever continues the run takes it with the next epoch.
//  2. Self-test. A worker compares the run's facts with its own and plays a self-test. If a byte differs, the worker
//     is refused, says why, and leaves.
//  3. Lease of a job. A job lies in a work queue. A worker takes one when it is idle and says that it is alive while
//     it plays; after Limits.AckWait without that, the job goes to another worker.
//  4. Result. A job is acknowledged after its result is stored. The Server checks each result and counts one per job.
//     Results that are late or repeated are dropped. A worker whose result no worker can have played is excluded, and
//     the job is queued again. A worker that is excluded stays so when another process continues the run.
//  5. Give up. A job that was given out Limits.Deliveries times without a result is split, if its kind can do that.
//     Otherwise it is written to a file and ends the run.
//  6. Sweep. A run that is over removes what it has in the broker. What a killed one left there, the next Serve
//     removes after KeepFor; only the number of its last epoch stays, if the run can be continued.
//
// Results do not depend on workers: a job says all that its result depends on, and the kind orders the results. No
// process reads a clock of another one: times are measured where they are used, or by the broker.
//
// # What lies in the broker
//
//	blockyard-runs               bucket: the Run of every run
//	blockyard-RUN-nets           object store: nets, weights and large results, by SHA-256
//	blockyard-RUN-EPOCH-tasks    work queue: jobs without a result
//	blockyard-RUN-EPOCH-results  work queue: results that the Server has not taken, or why there are none
//	blockyard.RUN.hello          signs of life of workers
//	blockyard.RUN.status         questions for the Status of the run
package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blockyard/agents/fleet/broker"
)

// A Job is something that a worker can do, on the side of the Server.
type Job struct {
	ID   string // within the run; see CheckName
	Spec any    // all that the result depends on, besides the Run and its objects; travels as JSON

	// Take takes a result and sets what is in it. It returns an error if no worker can have played it: then that worker
	// is excluded from the run, and another one does the job. One call runs at a time. Done is called when a result has
	// been taken and counted.
	Take func(*Result) error
	Done func()
	// Split, if not nil, returns jobs that take the place of this one when it has failed too often.
	Split func() []*Job

	tries   int  // how often it was queued
	faults  int  // how often its result was lost
	refused int  // how often its result was refused, of one worker each
	lost    bool // its result came from an excluded worker
}

// A Result is what a worker returns for a job, and what it cost.
type Result struct {
	Data         []byte
	Games, Moves int           // in it; the Player sets them for the worker, Job.Take for the run
	Verified     int           // parts of it that Job.Take has played again
	Worker       string        // whose it is; only the Server sets it
	Busy         time.Duration // that it took; only the Server sets it
}

// A jobMessage is a job on its way to a worker, as JSON. Try is how often it was queued.
type jobMessage struct {
	ID   string          `json:"id"`
	Try  int             `json:"try"`
	Spec json.RawMessage `json:"spec"`
}

// messageID is what the broker knows a job and its result by, in order to store each once.
func (m *jobMessage) messageID() string { return m.ID + "-" + strconv.Itoa(m.Try) }

func parseJob(data []byte) (*jobMessage, error) {
	m := new(jobMessage)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("not a job: %w", err)
	}
	if !goodName.MatchString(m.ID) {
		return nil, fmt.Errorf("not a job: its id is %.40q", m.ID)
	}
	return m, nil
}

const (
	// LargeResult is the size in bytes above which a result travels as an object, which costs more than a message.
	LargeResult = broker.LargestMessage / 2

	resultHeader = "Blockyard-Result"      // holds a resultMessage as JSON
	mostBusy     = 24 * 3600 * 1000 * 1000 // bounds what a worker may say that a job took, in microseconds: a day

	failed   = "failed"   // state of a result that is none: the content says why
	exceeded = "exceeded" // another one: the job was given out too often
)

// A resultMessage is the header of a result on its way back, as JSON: everything but the content.
type resultMessage struct {
	Job    string `json:"job"`
	Worker string `json:"worker"`
	Object string `json:"object,omitempty"` // that holds the content, if it is large
	Busy   int64  `json:"busy"`             // microseconds that the job took
	State  string `json:"state,omitempty"`  // "" for a result
}

func (r *resultMessage) header() nats.Header { return nats.Header{resultHeader: {string(JSON(r))}} }

func parseResult(h nats.Header) (*resultMessage, error) {
	r := new(resultMessage)
	if err := json.Unmarshal([]byte(h.Get(resultHeader)), r); err != nil {
		return nil, fmt.Errorf("not a result: %w", err)
	}
	if !goodName.MatchString(r.Job) || r.Busy < 0 || r.Busy > mostBusy {
		return nil, fmt.Errorf("not a result: the job %.40q took %d microseconds", r.Job, r.Busy)
	}
	return r, CheckName(r.Worker)
}

// Bounds of the queues. A job is queued Limits.Deliveries times at most, and its result may be stored twice.
const (
	resultsPerJob = 2
	taskBytes     = 64 << 20
	resultBytes   = 256 << 20
	mostPulls     = 1 << 16 // threads of workers that wait for a job
	workersName   = "workers"
	serverName    = "server"
)

// queues are those of an epoch. How many messages one has, its stream knows: it has stored what it has confirmed. A
// consumer learns of a message later.
type queues struct {
	tasks, unread jetstream.Stream
	jobs, results jetstream.Consumer
}

// queueOf is the rest of the name of a queue after that of its run.
var queueOf = regexp.MustCompile(`^(\d+)-(tasks|results)$`)

// makeQueues creates the streams of the run's epoch for so many jobs, and deletes those of all other ones. A broker
// that ends with its process keeps them in memory, because the next epoch has queues of its own.
func makeQueues(ctx context.Context, js jetstream.JetStream, r *Run, jobs int, alone bool) (*queues, error) {
	if err := removeQueues(ctx, js, r.ID, r.Epoch); err != nil {
		return nil, err
	}
	storage := jetstream.FileStorage
	if alone {
		storage = jetstream.MemoryStorage
	}
	create := func(what string, messages int, most int64, reader string) (jetstream.Stream, jetstream.Consumer, error) {
		st, err := js.CreateStream(ctx, jetstream.StreamConfig{
			Name: queueName(r.ID, r.Epoch, what), Subjects: []string{queueSubject(r, what)},
			Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew,
			MaxMsgs: int64(messages), MaxBytes: most, Storage: storage,
		})
		if err != nil {
			return nil, nil, err
		}
		c, err := st.CreateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: reader, AckPolicy: jetstream.AckExplicitPolicy, AckWait: r.Limits.AckWait,
			MaxAckPending: messages, MaxWaiting: mostPulls,
		})
		return st, c, err
	}
	q := &queues{}
	var err error
	if q.tasks, q.jobs, err = create("tasks", jobs*r.Limits.Deliveries, taskBytes, workersName); err == nil {
		q.unread, q.results, err = create("results", resultsPerJob*jobs, resultBytes, serverName)
	}
	return q, explain(err)
}

func queueSubject(r *Run, what string) string {
	return subject(r.ID, strconv.FormatUint(r.Epoch, 10)+"."+what)
}

// removeQueues deletes the queues of a run's epochs before one.
func removeQueues(ctx context.Context, js jetstream.JetStream, run string, before uint64) (err error) {
	names := js.StreamNames(ctx)
	var all []string
	for name := range names.Name() {
		m := queueOf.FindStringSubmatch(strings.TrimPrefix(name, "blockyard-"+run+"-"))
		if m == nil {
			continue
		}
		if epoch, _ := strconv.ParseUint(m[1], 10, 64); epoch < before {
			all = append(all, name)
		}
	}
	for _, name := range all {
		err = errors.Join(err, ignore(js.DeleteStream(ctx, name), jetstream.ErrStreamNotFound))
	}
	return errors.Join(err, names.Err())
}

func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// noRoom are the error codes of JetStream that mean that there is no room.
var noRoom = []jetstream.ErrorCode{
	10002, // resources of the account exceeded
	10023, // insufficient resources
	10028, // memory
	10047, // storage resources exceeded
	10077, // message store failed
	10122, // maximum bytes of the stream's limit
}

// explain adds to an error of JetStream what the user can do about it, if it knows.
func explain(err error) error {
	var api *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &api) && slices.Contains(noRoom, api.ErrorCode):
		return fmt.Errorf("the broker has no room to store messages: free space on its disk, or allow it more; "+
			"then continue the run with --resume (%w)", err)
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, jetstream.ErrAsyncPublishTimeout):
		return fmt.Errorf("the broker does not confirm messages; if its disk is full, see its log, free space and start it "+
			"again; then continue the run with --resume (%w)", err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("the broker offers no JetStream: start nats-server with --jetstream; "+
			"a broker whose disk is full switches it off (%w)", err)
	}
	return err
}

// Objects are the nets, the weights and the large results of a run, named by the SHA-256 of their bytes in hexadecimal.
type Objects struct{ store jetstream.ObjectStore }

const objectBytes = 256 << 20

// ErrNoObject says that no object has this name in the broker, or that it has been deleted.
var ErrNoObject = errors.New("there is no such object")

func createObjects(ctx context.Context, js jetstream.JetStream, run string) (*Objects, error) {
	store, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: objectsBucket(run), Description: "nets, weights and large results", MaxBytes: objectBytes,
	})
	return &Objects{store}, explain(err)
}

func deleteObjects(ctx context.Context, js jetstream.JetStream, run string) error {
	return ignore(js.DeleteObjectStore(ctx, objectsBucket(run)), jetstream.ErrBucketNotFound)
}

// ObjectName returns the name of an object: the SHA-256 of its bytes in hexadecimal, so that equal objects are sent
// once.
func ObjectName(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Put stores an object and returns its name; "" with an error.
func (o *Objects) Put(ctx context.Context, data []byte) (string, error) {
	name := ObjectName(data)
	if _, err := o.store.GetInfo(ctx, name); err == nil {
		return name, nil
	}
	if _, err := o.store.PutBytes(ctx, name, data); err != nil {
		return "", explain(err)
	}
	return name, nil
}

// Get returns an object whose bytes match its name. The error wraps ErrNoObject if there is none.
func (o *Objects) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := o.store.GetBytes(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		err = ErrNoObject
	}
	if err != nil {
		return nil, fmt.Errorf("object %.12s: %w", name, err)
	}
	if ObjectName(data) != name {
		return nil, fmt.Errorf("object %.12s: its bytes do not match its name", name)
	}
	return data, nil
}

// Remove deletes an object, if it is there.
func (o *Objects) Remove(ctx context.Context, name string) error {
	return ignore(o.store.Delete(ctx, name), jetstream.ErrObjectNotFound)
}
