package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func statusSubject(run string) string { return "blockyard." + run + ".status" }

// A Status is what the learner of a run says of it.
type Status struct {
	Run       string      `json:"run"`
	Game      string      `json:"game"`
	Epoch     uint64      `json:"epoch"`
	Iteration int         `json:"iteration"` // that is played now
	Open      int         `json:"open"`      // tasks without a result
	Queued    uint64      `json:"queued"`    // tasks that no worker has yet
	Unread    uint64      `json:"unread"`    // results that the learner has not taken yet
	Workers   []WorkerRow `json:"workers"`
}

// Status returns the state of the run.
func (l *Learner) Status() Status {
	s := Status{Run: l.spec.Run, Game: l.spec.Game, Epoch: l.spec.Epoch, Workers: l.workers.rows()}
	l.mu.Lock()
	s.Iteration = l.waiting
	s.Open = len(l.open())
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if info, err := l.queues.toWorkers.Info(ctx); err == nil {
		s.Queued = info.NumPending
	}
	if info, err := l.queues.toLearn.Info(ctx); err == nil {
		s.Unread = info.NumPending + uint64(info.NumAckPending)
	}
	return s
}

// Ask returns the status of every run that a broker knows, from the run's learner. Runs whose learner does not
// answer are named with the reason.
func Ask(ctx context.Context, nc *nats.Conn) (all []Status, quiet map[string]string, err error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, nil, err
	}
	kv, err := bucket(ctx, js, false)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, explain(err)
	}
	specs, err := allSpecs(ctx, kv)
	if err != nil {
		return nil, nil, err
	}
	quiet = map[string]string{}
	for _, spec := range specs {
		if spec.State != running {
			quiet[spec.Run] = spec.Game + ", " + spec.State
			continue
		}
		reply, err := nc.RequestWithContext(ctx, statusSubject(spec.Run), nil)
		var s Status
		if err == nil {
			err = json.Unmarshal(reply.Data, &s)
		}
		if err != nil {
			quiet[spec.Run] = fmt.Sprintf("%s, its learner does not answer: %v", spec.Game, err)
			continue
		}
		all = append(all, s)
	}
	return all, quiet, nil
}

// allSpecs returns the specs of all runs.
func allSpecs(ctx context.Context, kv jetstream.KeyValue) (all []*Spec, err error) {
	keys, err := kv.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, nil
	}
	for _, key := range keys {
		run, ok := strings.CutPrefix(key, "spec.")
		if !ok {
			continue
		}
		s, err := readSpec(ctx, kv, run)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, err
}
