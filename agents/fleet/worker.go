package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blockyard/datasets/program"
)

// A Kind prepares this program for a run. Every error, and one of NewPlayer that wraps ErrRefused, refuses the worker.
// get reads an object of the run.
type Kind func(ctx context.Context, r *Run, get Get) (NewPlayer, error)

type (
	Get       func(ctx context.Context, name string) ([]byte, error) // see Objects.Get
	NewPlayer func() (Player, error)                                 // for one goroutine
)

// A Player does a job, whose spec is JSON of the run's process. An error that wraps ErrRefused refuses the worker; one
// that wraps ErrNoObject says that the job is of the past. After another error the player is not used again.
type Player func(ctx context.Context, spec json.RawMessage) (*Result, error)

// WorkerOptions are the settings of Work: which run, under what name, and how much of it at once.
type WorkerOptions struct {
	Run     string          // id; "" for the only run that is not over
	Name    string          // of the worker; two workers need two names
	Threads int             // goroutines that play
	Kinds   map[string]Kind // that this program can play
	Counts  *WorkerCounts
	Log     *slog.Logger

	patience time.Duration // with a process that does not renew its lease
}

// WorkerCounts are what a worker has done, as it counts. Its fields are safe for concurrent use.
type WorkerCounts struct {
	Tasks, Failed, Games, Moves atomic.Int64
	Busy                        atomic.Int64 // microseconds of all goroutines
	Queued                      atomic.Int64 // jobs that waited when the last one was taken
}

// ErrGone says that the process of a run that cannot be continued does not answer any more.
var ErrGone = errors.New("the process of the run is gone")

// look is how often a worker looks for its run and says that it lives.
const look = time.Second

// A worker does the jobs of one run.
type worker struct {
	WorkerOptions
	nc      *nats.Conn
	js      jetstream.JetStream
	kv      jetstream.KeyValue
	run     *Run // nil until it is found
	objects *Objects
}

// Work does the jobs of a run, which it waits for, until the run is over or ctx ends; then its error is nil.
func Work(ctx context.Context, nc *nats.Conn, o WorkerOptions) error {
	js, err := jetstream.New(nc)
	if err = errors.Join(CheckName(o.Name), err); err != nil {
		return err
	}
	o.patience = cmp.Or(o.patience, 3*leaseFor)
	w := &worker{WorkerOptions: o, nc: nc, js: js}
	if err = w.work(ctx); ctx.Err() != nil {
		err = nil
	}
	if errors.Is(err, ErrRefused) {
		w.hello(Refused, err.Error())
	} else {
		w.hello(Left, "")
	}
	_ = nc.FlushTimeout(time.Second) // the server would notice by itself, a little later
	return err
}

// work waits for the run and plays its epochs, until it is over.
func (w *worker) work(ctx context.Context) error {
	for said := false; ctx.Err() == nil; {
		run, err := w.look(ctx)
		switch {
		case err != nil && w.run == nil && !passing(err):
			return explain(err)
		case run == nil && w.run == nil && !said:
			w.Log.Info("waiting for a run", "run", w.Run)
			said = true
		case run == nil && w.run != nil && err == nil, run != nil && run.State == Done:
			return nil
		case run != nil:
			w.run, w.Run = run, run.ID
			if played, err := w.epoch(ctx); err != nil {
				return err
			} else if played {
				continue
			}
		}
		w.hello(Playing, "")
		_ = program.Sleep(ctx, look)
	}
	return nil
}

func passing(err error) bool {
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded)
}

func (w *worker) look(ctx context.Context) (run *Run, err error) {
	w.kv, err = openRuns(ctx, w.js, false)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	all, err := getAll(ctx, w.kv)
	var names []string
	for _, r := range all {
		if r.ID == w.Run {
			return r, nil
		}
		if w.Run == "" && r.State == Running && (!r.Once || alive(ctx, w.nc, r.ID)) {
			run, names = r, append(names, r.ID+" ("+r.Game+")")
		}
	}
	if len(names) > 1 {
		return nil, fmt.Errorf("the broker has several runs: choose one with --run: %s", strings.Join(names, ", "))
	}
	return run, err
}

// open checks that this program can play the run.
func (w *worker) open(ctx context.Context) (players NewPlayer, err error) {
	r := w.run
	if err := r.admit(w.Name); err != nil {
		return nil, err
	}
	store, err := w.js.ObjectStore(ctx, objectsBucket(r.ID))
	if err != nil {
		return nil, explain(err)
	}
	w.objects = &Objects{store}
	switch kind := w.Kinds[r.Kind]; {
	case r.Version != Version:
		err = r.differ("format version", fmt.Sprint(r.Version), fmt.Sprint(Version))
	case kind == nil:
		err = fmt.Errorf("run %s is of the kind %.40q, which this worker does not know", r.ID, r.Kind)
	default:
		players, err = kind(ctx, r, w.objects.Get)
	}
	if err != nil && ctx.Err() == nil && !passing(err) {
		err = fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return players, err
}

// epoch does jobs until the run is done, another process drives it, or ctx ends. It reports whether it could.
func (w *worker) epoch(ctx context.Context) (played bool, err error) {
	if w.run.State != Running {
		return false, nil
	}
	players, err := w.open(ctx)
	if errors.Is(err, ErrRefused) {
		return false, err
	}
	var queue jetstream.Consumer
	if err == nil {
		queue, err = w.js.Consumer(ctx, queueName(w.run.ID, w.run.Epoch, "tasks"), workersName)
	}
	if err != nil {
		w.Log.Debug("no queue of jobs", "error", err)
		return false, nil
	}
	w.Log.Info("joined", "run", w.run.ID, "game", w.run.Game, "worker", w.Name, "threads", w.Threads)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var playing sync.WaitGroup
	for range w.Threads {
		playing.Go(func() { stop(w.play(ctx, queue, players)) })
	}
	playing.Go(func() { stop(w.follow(ctx)) })
	playing.Wait()
	if err = context.Cause(ctx); !errors.Is(err, ErrRefused) && !errors.Is(err, ErrGone) {
		err = nil
	}
	return true, err
}

// follow says hello until the run is done or in another epoch, or its process is gone.
func (w *worker) follow(ctx context.Context) error {
	last, renewed := w.run.revision, time.Now()
	for ctx.Err() == nil {
		w.hello(Playing, "")
		switch r, err := get(ctx, w.kv, w.run.ID); {
		case errors.Is(err, ErrNoRun) || err == nil && (r.State != Running || r.Epoch != w.run.Epoch):
			return nil
		case err == nil && r.admit(w.Name) != nil:
			return r.admit(w.Name)
		case err != nil:
			renewed = time.Now() // the broker is away, which says nothing of the process
		case r.revision != last:
			last, renewed = r.revision, time.Now()
		case r.Once && time.Since(renewed) > w.patience:
			return ErrGone
		}
		_ = program.Sleep(ctx, look)
	}
	return nil
}

// hello tells the run's process the state of this worker, once the run is found.
func (w *worker) hello(state, why string) {
	if w.run == nil {
		return
	}
	h := WorkerRow{Name: w.Name, Threads: w.Threads, State: state, Why: why}
	_ = w.nc.Publish(subject(w.run.ID, "hello"), JSON(h)) // the next one may arrive
}

// play does one job after the other. It takes none in advance, since a job that waits here is missing elsewhere.
func (w *worker) play(ctx context.Context, queue jetstream.Consumer, players NewPlayer) error {
	jobs, err := queue.Messages(jetstream.PullMaxMessages(1), jetstream.PullExpiry(10*time.Second),
		jetstream.WithMessagesErrOnMissingHeartbeat(false))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, jobs.Drain)() // jobs that are here already are handed back below
	var player Player
	for {
		msg, err := jobs.Next()
		if err != nil {
			return err
		}
		if player == nil {
			if player, err = players(); err != nil {
				return fmt.Errorf("%w: %w", ErrRefused, err)
			}
		}
		id, err := w.one(ctx, player, msg)
		switch {
		case err == nil:
			_ = msg.Ack() // if it is lost, the job is done once more and its result dropped
		case errors.Is(err, ErrNoObject):
			_ = msg.Term()
		case errors.Is(err, ErrRefused):
			_ = msg.Nak()
			return err
		case ctx.Err() != nil:
			_ = msg.Nak() // another worker gets it now instead of after AckWait
		default:
			player = nil
			w.Counts.Failed.Add(1)
			w.Log.Warn("a job failed", "job", id, "error", err)
			_ = w.publish(ctx, resultMessage{Job: id, State: failed}, []byte(err.Error()), "")
			_ = msg.NakWithDelay(200 * time.Millisecond)
		}
	}
}

// one does a job and publishes its result. Meanwhile it tells the broker that the job is being done.
func (w *worker) one(ctx context.Context, play Player, msg jetstream.Msg) (id string, err error) {
	done, stop := context.WithCancel(context.Background())
	defer stop()
	every := w.run.Limits.AckWait / 3
	go func() {
		for program.Sleep(done, every) == nil {
			_ = msg.InProgress() // if it is lost, the next one may not be
		}
	}()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	m, err := parseJob(msg.Data())
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRefused, err)
	}
	id = m.ID
	meta, err := msg.Metadata()
	if err != nil {
		return id, err
	}
	w.Counts.Queued.Store(int64(meta.NumPending))
	if meta.NumDelivered > uint64(w.run.Limits.Deliveries) {
		return id, w.publish(ctx, resultMessage{Job: id, State: exceeded}, nil, "")
	}
	began := time.Now()
	r, err := play(ctx, m.Spec)
	if err != nil {
		return id, err
	}
	busy := time.Since(began).Microseconds()
	if err := w.publish(ctx, resultMessage{Job: id, Busy: busy}, r.Data, m.messageID()); err != nil {
		return id, err
	}
	w.Counts.Tasks.Add(1)
	w.Counts.Games.Add(int64(r.Games))
	w.Counts.Moves.Add(int64(r.Moves))
	w.Counts.Busy.Add(busy)
	return id, nil
}

// publish stores a result, or why there is none. It tries again while the broker cannot be reached. The broker stores
// one message per id, if that is not empty.
func (w *worker) publish(ctx context.Context, r resultMessage, data []byte, id string) error {
	msg := &nats.Msg{Subject: queueSubject(w.run, "results"), Data: data}
	for r.Worker = w.Name; ; _ = program.Sleep(ctx, time.Second) {
		var err error
		if len(data) > LargeResult && r.Object == "" {
			r.Object, err = w.objects.Put(ctx, data)
			msg.Data = nil
		}
		if err == nil {
			if msg.Header = r.header(); id != "" {
				msg.Header.Set(nats.MsgIdHdr, id)
			}
			_, err = w.js.PublishMsg(ctx, msg)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		w.Log.Warn("a result could not be published, trying again", "job", r.Job, "error", explain(err))
	}
}
