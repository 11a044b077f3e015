package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"blockyard/agents/fleet"

	"github.com/nats-io/nats.go/jetstream"
)

// aheadMost is how many rollouts beyond the one that the learner waits for may be played.
const aheadMost = 4

// Bounds of the queues. Results may be stored twice at worst, before and after a task is delivered again.
const (
	tasksPerSlot   = 1 + aheadMost
	resultsPerSlot = 2 * tasksPerSlot
	taskBytes      = 64 << 20
	resultBytes    = 256 << 20
	workersName    = "workers"
	learnerName    = "learner"
)

// queues are the streams of one epoch.
type queues struct {
	tasks, results     jetstream.Stream
	toWorkers, toLearn jetstream.Consumer
}

// makeQueues creates the streams of an epoch and deletes those of all earlier ones. A broker that ends with its
// learner keeps them in memory, because the next epoch has queues of its own.
func makeQueues(ctx context.Context, js jetstream.JetStream, s *Spec, alone bool) (*queues, error) {
	storage := jetstream.FileStorage
	if alone {
		storage = jetstream.MemoryStorage
	}
	names := js.StreamNames(ctx)
	for name := range names.Name() {
		var epoch uint64
		var what string
		rest, ok := strings.CutPrefix(name, "blockyard-"+s.Run+"-")
		if n, _ := fmt.Sscanf(rest, "%d-%s", &epoch, &what); !ok || n != 2 || epoch >= s.Epoch {
			continue
		}
		if err := js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil, err
		}
	}
	if err := names.Err(); err != nil {
		return nil, err
	}
	q := &queues{}
	var err error
	create := func(what string, perSlot int, most int64) jetstream.Stream {
		st, e := js.CreateStream(ctx, jetstream.StreamConfig{
			Name: queueName(s.Run, s.Epoch, what), Subjects: []string{queueSubject(s.Run, s.Epoch, what)},
			Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew,
			MaxMsgs: int64(perSlot * s.Slots), MaxBytes: most, Storage: storage,
		})
		err = errors.Join(err, e)
		return st
	}
	q.tasks, q.results = create("tasks", tasksPerSlot, taskBytes), create("results", resultsPerSlot, resultBytes)
	if err != nil {
		return nil, fleet.Explain(err)
	}
	q.toWorkers, err = q.tasks.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: workersName, AckPolicy: jetstream.AckExplicitPolicy, AckWait: s.Limits.AckWait,
		MaxDeliver: s.Limits.Deliveries, MaxAckPending: tasksPerSlot * s.Slots, MaxWaiting: 8192,
	})
	if err != nil {
		return nil, fleet.Explain(err)
	}
	q.toLearn, err = q.results.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: learnerName, AckPolicy: jetstream.AckExplicitPolicy, AckWait: s.Limits.AckWait,
		MaxAckPending: resultsPerSlot * s.Slots,
	})
	return q, fleet.Explain(err)
}

// remove deletes the streams of an epoch.
func (q *queues) remove(ctx context.Context, js jetstream.JetStream) error {
	return errors.Join(js.DeleteStream(ctx, q.tasks.CachedInfo().Config.Name),
		js.DeleteStream(ctx, q.results.CachedInfo().Config.Name))
}
