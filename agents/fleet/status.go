package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
		} else if s, err := ask(ctx, nc, r.ID); err != nil {
			quiet[r.ID] = fmt.Sprintf("%s, its process does not answer: %v", r.Game, err)
		} else {
			all = append(all, s)
		}
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
