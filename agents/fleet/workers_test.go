package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"blockyard/agents/fleet/broker"
	"blockyard/env/envtest"
)

// A worker whose result no worker can have played is excluded and named, and leaves. Its jobs are done by others, and the
// run ends as if it had never been there.
func TestBadWorkersAreExcluded(t *testing.T) {
	log, text := logTo(t) // a worker that leaves may have a job
	site, s := begin(t, Limits{AckWait: 2 * time.Second, Deliveries: 1000}, Options{Log: log, Folder: t.TempDir()})
	got := make(done, 6)
	require.NoError(t, s.Submit(t.Context(), got.jobs(0, 1, 2, 3, 4, 5)...))
	err := <-work(t, site, "liar", always("-1"))
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "excluded: its result of job ")
	require.ErrorContains(t, err, "-1 is not the square of ")
	require.ErrorIs(t, <-work(t, site, "liar", nil), ErrRefused, "it does not come back under its name")
	require.Contains(t, Progress(s.Workers()), "nobody plays: all 1 workers were refused")
	require.NoError(t, s.Err())

	left := work(t, site, "honest", nil)
	require.Equal(t, []string{"0", "1", "2", "3", "4", "5"}, got.wait(6))
	finish(t, s, left)
	require.Contains(t, text(), `msg="a worker was excluded" worker=liar reason="excluded: its result of job`)
}

// always is a player that sends the same.
func always(data string) Player {
	return func(context.Context, json.RawMessage) (*Result, error) { return &Result{Data: []byte(data)}, nil }
}

// One that goes on sending results counts for nothing, even if they are right, and others do its jobs.
func TestExcludedResultsAreDropped(t *testing.T) {
	site, s := begin(t, Limits{AckWait: time.Minute, Deliveries: 2}, Options{Folder: t.TempDir()})
	got := make(done, 1)
	require.NoError(t, s.Submit(t.Context(), got.jobs(3)...))
	msg := envtest.Must(s.queues.jobs.Next(jetstream.FetchMaxWait(long)))
	answer := func(id int, data string) error { // the broker stores one message per id
		_, err := s.js.PublishMsg(t.Context(), &nats.Msg{Subject: queueSubject(&s.run, "results"), Data: []byte(data),
			Header: (&resultMessage{Job: "3", Worker: "liar"}).header()}, jetstream.WithMsgID(fmt.Sprint(id)))
		return err
	}
	require.NoError(t, answer(0, "8"))
	require.NoError(t, msg.Ack())
	const flood = 500 // more than the queue of jobs may have
	for sent := 0; sent < flood; {
		if answer(1+sent, "9") == nil { // the queue of results may be full
			sent++
		}
	}
	require.Eventually(t, func() bool { return s.Workers()[0].Dropped == flood }, long, time.Millisecond)
	s.roster.hello(WorkerRow{Name: "liar", State: Playing, Threads: 9})
	require.Equal(t, Refused, s.Workers()[0].State)
	left := work(t, site, "honest", nil)
	got.wait(1)
	require.NoError(t, s.Err())
	require.Equal(t, 1, s.Workers()[0].Tasks, "of honest")
	require.Equal(t, [2]int{0, flood}, [2]int{s.Workers()[1].Tasks, s.Workers()[1].Dropped})
	finish(t, s, left)
}

// A job whose results no worker gets right is given up, and the last worker is named.
func TestJobThatNobodyGetsRight(t *testing.T) {
	site, s := begin(t, Limits{AckWait: time.Minute, Deliveries: 2}, Options{Folder: t.TempDir()})
	require.NoError(t, s.Submit(t.Context(), make(done, 1).jobs(3)...))
	for _, name := range []string{"one", "two"} {
		require.ErrorIs(t, <-work(t, site, name, always("10")), ErrRefused)
	}
	<-s.Failed()
	require.ErrorContains(t, s.Err(), "job 3 was given to workers 2 times and has no result: worker two says: 10 is not")
	finish(t, s)
}

// Whoever has the key can make a run list, log and keep a bounded amount, and cannot change what a terminal shows.
func TestTextsOfWorkersAreBounded(t *testing.T) {
	var log bytes.Buffer
	now := time.Unix(0, 0)
	r := &roster{run: "run", all: map[string]*WorkerRow{}}
	r.log = sparing(slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now })
	for k := range 2 * mostWorkers {
		r.hello(WorkerRow{Name: fmt.Sprint("w", k), State: Playing})
		r.trouble(Trouble{Job: "1", Worker: "w", Error: strings.Repeat("\x1b[2J", 1000)})
	}
	require.Len(t, r.rows(), mostWorkers)
	require.Equal(t, linesAMinute, strings.Count(log.String(), "\n"))
	require.Less(t, log.Len(), linesAMinute*(mostText+300))
	require.NotContains(t, log.String(), `\x1b`)
	require.Len(t, r.reports("1"), mostTroubles)
	require.Less(t, len(r.reports("1")[0].Error), mostText+5)
	now = now.Add(time.Minute)
	log.Reset()
	r.log.Info("next minute")
	require.Contains(t, log.String(), fmt.Sprintf("lines_left_out=%d", 4*mostWorkers-linesAMinute))

	for _, w := range r.all { // silent ones that have done nothing make room
		w.at = time.Now().Add(-2 * silentFor)
	}
	r.exclude("w5", "it lies")
	r.add("w6", WorkerRow{Tasks: 1, Games: 1, Moves: 1, Busy: time.Second})
	for _, name := range []string{"w5", "w6"} {
		r.all[name].at = time.Now().Add(-2 * silentFor)
	}
	r.hello(WorkerRow{Name: "late", State: Playing})
	require.True(t, r.excluded("w5"))
	require.Len(t, r.rows(), mostWorkers)
	require.Contains(t, r.all, "late")
	require.Contains(t, r.all, "w6")
}

// What a worker says of itself is taken within bounds.
func TestHellosAreBounded(t *testing.T) {
	site, s := begin(t, DefaultLimits, Options{})
	for _, h := range []WorkerRow{{Name: "odd", State: "\x1b[2J"}, {Name: "a b", State: Playing},
		{Name: "big", State: Refused, Why: strings.Repeat("\x1b", 1<<16), Threads: 1 << 40}, {Name: "less", State: Left, Threads: -5}} {
		require.NoError(t, site.Publish(subject("run", "hello"), JSON(h)))
	}
	require.Eventually(t, func() bool { return len(s.Workers()) == 2 }, long, time.Millisecond)
	rows := s.Workers()
	require.Equal(t, "big", rows[0].Name)
	require.Equal(t, mostThreads, rows[0].Threads)
	require.Len(t, rows[0].Why, mostText+len("…"))
	require.NotContains(t, rows[0].Why, "\x1b")
	require.Zero(t, rows[1].Threads)
	require.Contains(t, Progress(rows), "nobody plays: all 1 workers were refused, and 1 are gone; the run waits for others. big: ")
	finish(t, s)
}

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
		require.NoError(t, envtest.Failed(nc.Subscribe(from, func(*nats.Msg) {})), "the server refuses it, later")
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
	all, _ := envtest.Must2(Ask(t.Context(), nc))
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
	_, file, _ := strings.Cut(site.Join, "--creds ")
	nc := envtest.Must((&broker.ClientFlags{Creds: file}).Connect(site.Address, "worker", quiet))
	t.Cleanup(nc.Close)
	return nc
}
