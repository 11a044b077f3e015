package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Bounds of the queues. A job is queued Limits.Deliveries times at most. A result may be stored twice, before and after
// its job is delivered again.
const (
	resultsPerJob = 2
	taskBytes     = 64 << 20
	resultBytes   = 256 << 20
	mostPulls     = 1 << 16 // threads of workers that wait for a job
	workersName   = "workers"
	serverName    = "server"
)

type queues struct{ jobs, results jetstream.Consumer }

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
	create := func(what string, messages int, most int64, reader string) (jetstream.Consumer, error) {
		st, err := js.CreateStream(ctx, jetstream.StreamConfig{
			Name: queueName(r.ID, r.Epoch, what), Subjects: []string{queueSubject(r, what)},
			Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew,
			MaxMsgs: int64(messages), MaxBytes: most, Storage: storage,
		})
		if err != nil {
			return nil, err
		}
		return st.CreateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: reader, AckPolicy: jetstream.AckExplicitPolicy, AckWait: r.Limits.AckWait,
			MaxAckPending: messages, MaxWaiting: mostPulls,
		})
	}
	q := &queues{}
	var err error
	if q.jobs, err = create("tasks", jobs*r.Limits.Deliveries, taskBytes, workersName); err == nil {
		q.results, err = create("results", resultsPerJob*jobs, resultBytes, serverName)
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
		rest, _ := strings.CutPrefix(name, "blockyard-"+run+"-")
		if m := queueOf.FindStringSubmatch(rest); m != nil {
			if epoch, _ := strconv.ParseUint(m[1], 10, 64); epoch < before {
				all = append(all, name)
			}
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

// ErrNoObject says that there is no such object, perhaps not any more.
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

// ObjectName is the name of an object with these bytes.
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
