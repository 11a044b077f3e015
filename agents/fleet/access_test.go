package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"blockyard/agents/fleet/broker"
	"blockyard/env/envtest"
)

// The key of the workers does what a worker needs, results of any size included, and nothing else: it makes no stream,
// deletes none, and changes no run.
func TestTheKeyOfWorkersIsBounded(t *testing.T) {
	site, s := begin(t, DefaultLimits, Options{})
	nc := asWorker(t, site)
	refused := make(chan error, 1)
	nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err })
	queue := queueName("run", s.run.Epoch, "tasks")
	for _, to := range []string{
		"$JS.API.STREAM.CREATE.mine", "$JS.API.STREAM.UPDATE." + queue, "$JS.API.STREAM.DELETE." + queue,
		"$JS.API.STREAM.PURGE." + queue, "$JS.API.STREAM.MSG.DELETE." + queue, "$JS.API.STREAM.PURGE.KV_blockyard-runs",
		"$JS.API.CONSUMER.DELETE." + queue + ".workers", "$JS.API.CONSUMER.DURABLE.CREATE." + queue + ".mine",
		"$JS.API.CONSUMER.CREATE." + queue + ".mine", "$JS.API.CONSUMER.PAUSE." + queue + ".workers",
		"$KV.blockyard-runs." + runKey("run"), queueSubject(&s.run, "tasks"), "anything",
	} {
		require.NoError(t, nc.Publish(to, []byte("{}")))
		require.ErrorContains(t, <-refused, to)
	}
	for _, from := range []string{">", "blockyard.>", "$KV.>"} {
		_, err := nc.Subscribe(from, func(*nats.Msg) {})
		require.NoError(t, err, "the server refuses it, later")
		require.ErrorContains(t, <-refused, `Subscription to "`+from)
	}
	all := envtest.Must(getAll(t.Context(), s.kv))
	require.Len(t, all, 1)
	require.Equal(t, Running, all[0].State)
	finish(t, s)
}

// With that key a worker joins, reads objects, plays, sends results that are too large for a message as objects, which are
// removed when they were taken, and leaves, and the status can be asked for.
func TestTheKeyOfWorkersSuffices(t *testing.T) {
	site, s := begin(t, DefaultLimits, Options{})
	nc := asWorker(t, site)
	data := bytes.Repeat([]byte("1234567890"), LargeResult/5)
	name := envtest.Must(s.Objects.Put(t.Context(), data))
	done := make(chan struct{})
	require.NoError(t, s.Submit(t.Context(), &Job{ID: "1", Spec: name, Done: func() { close(done) },
		Take: func(r *Result) error {
			if !bytes.Equal(data[1:], r.Data) {
				return errors.New("other bytes")
			}
			return nil
		}}))
	left := make(chan error, 1)
	go func() {
		left <- Work(t.Context(), nc, WorkerOptions{Name: "only", Threads: 1, Counts: new(WorkerCounts), Log: quiet,
			Kinds: map[string]Kind{"squares": func(_ context.Context, _ *Run, get Get) (NewPlayer, error) {
				return func() (Player, error) {
					return func(ctx context.Context, spec json.RawMessage) (*Result, error) {
						data, err := get(ctx, strings.Trim(string(spec), `"`))
						return &Result{Data: bytes.TrimPrefix(data, []byte("1"))}, err
					}, nil
				}, nil
			}}})
	}()
	<-done
	all, _, err := Ask(t.Context(), nc)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Eventually(t, func() bool {
		_, err := s.Objects.Get(t.Context(), ObjectName(data[1:]))
		return errors.Is(err, ErrNoObject)
	}, long, time.Millisecond)
	finish(t, s, left)
	require.NoError(t, nc.LastError())
}

// asWorker connects with the key of workers.
func asWorker(t *testing.T, site *broker.Site) *nats.Conn {
	t.Helper()
	_, file, _ := strings.Cut(site.Join, "--creds ")
	nc := envtest.Must((&broker.ClientFlags{Creds: file}).Connect(site.Address, "worker", quiet))
	t.Cleanup(nc.Close)
	return nc
}
