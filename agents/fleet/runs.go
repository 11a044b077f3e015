package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Head is the part of a run's spec that every kind of run has.
type Head struct {
	Version int    `json:"version"` // of the messages; the kind of run defines them
	Run     string `json:"run"`
	Kind    string `json:"kind,omitempty"` // Match, or "" for self-play
	State   string `json:"state"`
	Game    string `json:"game"`
}

// Match is the kind of run that is a match.
const Match = "match"

// The states of a run.
const (
	Running = "running"
	Paused  = "paused" // its process has stopped and can continue it
	Done    = "done"
)

// ErrNoRun says that the broker has no such run.
var ErrNoRun = errors.New("the broker has no such run")

// SpecKey is where the spec of a run lies in the bucket of Runs.
func SpecKey(run string) string { return "spec." + run }

func objectsBucket(run string) string  { return "blockyard-" + run + "-nets" }
func helloSubject(run string) string   { return Subject(run, "hello") }
func troubleSubject(run string) string { return Subject(run, "trouble") }
func statusSubject(run string) string  { return Subject(run, "status") }

// Subject is a subject of a run.
func Subject(run, what string) string { return "blockyard." + run + "." + what }

// Runs opens the bucket of runs, and creates it if create is true.
func Runs(ctx context.Context, js jetstream.JetStream, create bool) (jetstream.KeyValue, error) {
	if !create {
		return js.KeyValue(ctx, "blockyard-runs")
	}
	return js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: "blockyard-runs", Description: "runs of Blockyard", MaxBytes: 16 << 20,
	})
}

// ReadSpec reads the spec of a run, a JSON object; ErrNoRun if there is none.
func ReadSpec(ctx context.Context, kv jetstream.KeyValue, run string, into any) error {
	e, err := kv.Get(ctx, SpecKey(run))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return ErrNoRun
	} else if err != nil {
		return err
	}
	if err := json.Unmarshal(e.Value(), into); err != nil {
		return fmt.Errorf("run %s: not the description of a run: %w", run, err)
	}
	return nil
}

// Heads returns the heads of the specs of all runs.
func Heads(ctx context.Context, kv jetstream.KeyValue) (all []Head, err error) {
	keys, err := kv.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, nil
	}
	for _, key := range keys {
		run, ok := strings.CutPrefix(key, SpecKey(""))
		if !ok {
			continue
		}
		var h Head
		if err := ReadSpec(ctx, kv, run, &h); errors.Is(err, ErrNoRun) {
			continue // it was deleted in between
		} else if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, err
}

// CheckName refuses names of workers and runs that cannot be part of a subject or would break a table.
func CheckName(name string) error {
	if name == "" || len(name) > 64 {
		return fmt.Errorf("name %.70q: want 1 to 64 letters, digits, '-' or '_'", name)
	}
	for _, r := range name {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return fmt.Errorf("name %q: want letters, digits, '-' and '_' only", name)
		}
	}
	return nil
}

// Error codes of JetStream that mean that there is no room.
var noRoom = []jetstream.ErrorCode{
	10002, // resources of the account exceeded
	10023, // insufficient resources
	10028, // memory
	10047, // storage resources exceeded
	10077, // message store failed
	10122, // maximum bytes of the stream's limit
}

// Explain adds to an error of JetStream what the user can do about it, if it knows.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	var api *jetstream.APIError
	full := errors.As(err, &api) && func() bool {
		for _, code := range noRoom {
			if api.ErrorCode == code {
				return true
			}
		}
		return false
	}()
	switch {
	case full:
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

// JSON returns v, which has plain fields, as JSON.
func JSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain fields
	}
	return b
}
