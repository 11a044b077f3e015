package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/matches"
	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// WorkerOptions are the settings of a worker.
type WorkerOptions struct {
	Run     string // id; "" for the only run that is not over
	Name    string // of the worker; two workers need two names
	Threads int    // goroutines that play
	// Algorithm returns empty settings for a game, to be filled with those of the run.
	Algorithm func(*games.Game) selfplay.Algorithm
	Log       *slog.Logger
}

// ErrRefused says that this worker must not play for the run.
var ErrRefused = errors.New("this worker is refused")

// A worker plays tasks of one run.
type worker struct {
	options  WorkerOptions
	counts   *fleet.WorkerCounts
	nc       *nats.Conn
	js       jetstream.JetStream
	kv       jetstream.KeyValue
	spec     *Spec
	game     *games.Game
	settings selfplay.Algorithm
	objects  *fleet.Objects

	mu     sync.Mutex
	checks map[selfplay.Rollout]string // self-tests that were played
	nets   map[string]*mlp.Net         // the newest
}

// look is how often a worker looks for the state of its run.
const look = time.Second

// Work plays tasks of a run of self-play, or of a match, until it is over; then its error is nil, as when ctx ends. It
// waits for a run that is not there yet.
func Work(ctx context.Context, nc *nats.Conn, o WorkerOptions, counts *fleet.WorkerCounts) error {
	if err := fleet.CheckName(o.Name); err != nil {
		return err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	w := &worker{
		options: o, counts: counts, nc: nc, js: js,
		checks: map[selfplay.Rollout]string{}, nets: map[string]*mlp.Net{},
	}
	if err := w.find(ctx); err != nil || w.spec == nil {
		return err
	}
	if w.spec.Kind == fleet.Match {
		return matches.Work(ctx, nc, w.spec.Run, o.Name, o.Threads, o.Log, counts)
	}
	err = w.prepare(ctx)
	if err == nil {
		o.Log.Info("joined", "run", w.spec.Run, "game", w.spec.Game, "worker", o.Name, "threads", o.Threads)
		err = w.work(ctx)
	}
	switch {
	case errors.Is(err, ErrRefused):
		w.hello(fleet.Refused, err.Error())
	case ctx.Err() != nil:
		err = nil
		fallthrough
	default:
		w.hello(fleet.Left, "")
	}
	_ = nc.FlushTimeout(time.Second) // the learner would notice by itself, a little later
	return err
}

// find waits for the run. It leaves spec nil if ctx ends first.
func (w *worker) find(ctx context.Context) error {
	for said := false; ctx.Err() == nil; said = true {
		spec, err := w.look(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if spec != nil {
			w.spec = spec
			return nil
		}
		if !said {
			w.options.Log.Info("waiting for a run", "run", w.options.Run)
		}
		pause(ctx, look)
	}
	return nil
}

// look returns the run if it is there.
func (w *worker) look(ctx context.Context) (*Spec, error) {
	kv, err := fleet.Runs(ctx, w.js, false)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, fleet.Explain(err)
	}
	w.kv = kv
	if w.options.Run != "" {
		s, err := readSpec(ctx, kv, w.options.Run)
		if errors.Is(err, fleet.ErrNoRun) {
			return nil, nil
		}
		return s, err
	}
	all, err := fleet.Heads(ctx, kv)
	var open []string
	var names []string
	for _, h := range all {
		if h.State == fleet.Running && (h.Kind != fleet.Match || fleet.Alive(ctx, w.nc, h.Run)) {
			open, names = append(open, h.Run), append(names, h.Run+" ("+h.Game+")")
		}
	}
	if err != nil || len(open) == 0 {
		return nil, err
	}
	if len(open) > 1 {
		return nil, fmt.Errorf("the broker has several runs: choose one with --run: %s", strings.Join(names, ", "))
	}
	return readSpec(ctx, kv, open[0])
}

// prepare checks that this program can play the run.
func (w *worker) prepare(ctx context.Context) error {
	var err error
	if w.game, err = w.spec.open(); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	w.settings = w.options.Algorithm(w.game)
	d := json.NewDecoder(bytes.NewReader(w.spec.Settings))
	d.DisallowUnknownFields()
	if err := d.Decode(w.settings); err != nil {
		return fmt.Errorf("%w: settings of run %s: %w: run the same program as the learner", ErrRefused, w.spec.Run, err)
	}
	if _, err := selfplay.NewPlayer(w.game, w.settings); err != nil {
		return fmt.Errorf("%w: run %s: %w", ErrRefused, w.spec.Run, err)
	}
	w.objects, err = fleet.OpenObjects(ctx, w.js, w.spec.Run)
	return err
}

// work plays epoch after epoch until the run is done.
func (w *worker) work(ctx context.Context) error {
	for ctx.Err() == nil && w.spec.State != fleet.Done {
		cons, err := w.js.Consumer(ctx, queueName(w.spec.Run, w.spec.Epoch, "tasks"), workersName)
		if err == nil {
			err = w.epoch(ctx, cons)
		}
		if errors.Is(err, ErrRefused) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			w.options.Log.Debug("no queue of tasks", "error", err)
		}
		w.hello(fleet.Playing, "")
		pause(ctx, look)
		if s, err := readSpec(ctx, w.kv, w.spec.Run); err == nil {
			w.spec = s
		}
	}
	return nil
}

// epoch plays tasks of one epoch, until there is a next one, the run is done, or ctx ends.
func (w *worker) epoch(ctx context.Context, cons jetstream.Consumer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	it, err := cons.Messages(jetstream.PullMaxMessages(2*w.options.Threads), jetstream.PullExpiry(10*time.Second),
		jetstream.WithMessagesErrOnMissingHeartbeat(false))
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, it.Stop)
	tasks := make(chan jetstream.Msg)
	var playing sync.WaitGroup
	for range w.options.Threads {
		playing.Go(func() { w.play(ctx, tasks, stop) })
	}
	playing.Go(func() { w.follow(ctx, stop) })
	for {
		msg, err := it.Next()
		if err != nil {
			stop(err)
			break
		}
		select {
		case tasks <- msg:
		case <-ctx.Done():
		}
	}
	close(tasks)
	playing.Wait()
	if err := context.Cause(ctx); errors.Is(err, ErrRefused) {
		return err
	}
	return nil
}

// follow says hello, and stops the epoch if the run is done or in another one.
func (w *worker) follow(ctx context.Context, stop context.CancelCauseFunc) {
	for ctx.Err() == nil {
		w.hello(fleet.Playing, "")
		s, err := readSpec(ctx, w.kv, w.spec.Run)
		if err == nil && (s.State == fleet.Done || s.Epoch != w.spec.Epoch) {
			stop(nil)
			return
		}
		pause(ctx, fleet.HelloEvery)
	}
}

func (w *worker) hello(state, why string) {
	h := fleet.Hello{Name: w.options.Name, Threads: w.options.Threads, State: state, Why: why}
	fleet.SayHello(w.nc, w.spec.Run, h)
}

// pause waits for a time or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
