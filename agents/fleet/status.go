package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Status is what the process of a run says of it.
type Status struct {
	Run       string      `json:"run"`
	Kind      string      `json:"kind,omitempty"` // see Head
	Game      string      `json:"game"`
	Epoch     uint64      `json:"epoch"`
	Iteration int         `json:"iteration"` // that is played now; of a match: units whose games are there
	Open      int         `json:"open"`      // tasks without a result
	Queued    uint64      `json:"queued"`    // tasks that no worker has yet
	Unread    uint64      `json:"unread"`    // results that the learner has not taken yet
	Workers   []WorkerRow `json:"workers"`
}

// Ask returns the status of every run that a broker knows, from the run's own process. Runs whose process does not
// answer are named with the reason.
func Ask(ctx context.Context, nc *nats.Conn) (all []Status, quiet map[string]string, err error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, nil, err
	}
	kv, err := Runs(ctx, js, false)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, Explain(err)
	}
	heads, err := Heads(ctx, kv)
	if err != nil {
		return nil, nil, err
	}
	quiet = map[string]string{}
	for _, h := range heads {
		if h.State != Running {
			quiet[h.Run] = h.Game + ", " + h.State
			continue
		}
		s, err := ask(ctx, nc, h.Run)
		if err != nil {
			quiet[h.Run] = fmt.Sprintf("%s, its learner does not answer: %v", h.Game, err)
			continue
		}
		all = append(all, s)
	}
	return all, quiet, nil
}

// ask returns the status of a run.
func ask(ctx context.Context, nc *nats.Conn, run string) (s Status, err error) {
	reply, err := nc.RequestWithContext(ctx, statusSubject(run), nil)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(reply.Data, &s)
}

// Alive reports whether the process of a run may be alive: false if nobody listens to its subjects.
func Alive(ctx context.Context, nc *nats.Conn, run string) bool {
	_, err := ask(ctx, nc, run)
	return !errors.Is(err, nats.ErrNoResponders)
}
