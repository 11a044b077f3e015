package matches

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/match"
	"blockyard/datasets/record"
)

// ErrRefused says that this worker must not play for the match.
var ErrRefused = errors.New("this worker is refused")

// ErrGone says that the process of the match does not answer any more.
var ErrGone = errors.New("the process of the match is gone")

// A worker plays tasks of one match.
type worker struct {
	name    string
	threads int
	nc      *nats.Conn
	kv      jetstream.KeyValue
	spec    *spec
	match   *match.Match
	files   *fleet.Objects
	counts  *fleet.WorkerCounts
	log     *slog.Logger

	mu    sync.Mutex
	plays []int // units
}

// Work plays for a match until it is over; then its error is nil, as when ctx ends.
func Work(ctx context.Context, nc *nats.Conn, run, name string, threads int, log *slog.Logger,
	counts *fleet.WorkerCounts) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	w := &worker{name: name, threads: threads, nc: nc, spec: new(spec), counts: counts, log: log}
	if w.kv, err = fleet.Runs(ctx, js, false); err != nil {
		return fleet.Explain(err)
	}
	if err := fleet.ReadSpec(ctx, w.kv, run, w.spec); err != nil {
		return err
	}
	if w.files, err = fleet.OpenObjects(ctx, js, run); err != nil {
		return err
	}
	get := func(name string) ([]byte, error) { return w.files.Get(ctx, name) }
	if w.match, err = w.spec.open(ctx, get); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		err = fmt.Errorf("%w: %w", ErrRefused, err)
		w.hello(fleet.Refused, err.Error())
		_ = nc.FlushTimeout(time.Second) // who does not hear it sees no worker
		return err
	}
	log.Info("joined", "match", run, "game", w.spec.Game, "worker", name, "threads", threads)
	err = w.work(ctx)
	w.hello(fleet.Left, "")
	_ = nc.FlushTimeout(time.Second)
	return err
}

// work plays until the match is over.
func (w *worker) work(outer context.Context) error {
	ctx, stop := context.WithCancelCause(outer)
	defer stop(nil)
	var all sync.WaitGroup
	for range w.threads {
		all.Go(func() { w.play(ctx, stop) })
	}
	for ctx.Err() == nil {
		w.hello(fleet.Playing, "")
		now := new(spec)
		err := fleet.ReadSpec(ctx, w.kv, w.spec.Run, now)
		if errors.Is(err, fleet.ErrNoRun) || err == nil && now.State == fleet.Done {
			stop(nil)
		}
		pause(ctx, fleet.HelloEvery)
	}
	all.Wait()
	if err := context.Cause(ctx); outer.Err() == nil && errors.Is(err, ErrGone) {
		return err
	}
	return nil
}

func (w *worker) hello(state, why string) {
	w.mu.Lock()
	plays := slices.Clone(w.plays)
	w.mu.Unlock()
	fleet.SayHello(w.nc, w.spec.Run, fleet.Hello{
		Name: w.name, Threads: w.threads, State: state, Why: why, Tasks: plays,
	})
}

// patience is how long a worker asks a process that does not answer.
const patience = 30 * time.Second

// play plays one task after the other.
func (w *worker) play(ctx context.Context, stop context.CancelCauseFunc) {
	for last := time.Now(); ctx.Err() == nil; {
		u, err := w.next(ctx)
		switch {
		case errors.Is(err, nats.ErrNoResponders) && time.Since(last) > patience:
			stop(ErrGone)
		case errors.Is(err, nats.ErrNoResponders):
		default:
			last = time.Now()
		}
		if err != nil || u == nil {
			pause(ctx, 200*time.Millisecond)
			continue
		}
		w.playing(u.Index, true)
		began := time.Now()
		games, err := w.unit(ctx, u)
		if ctx.Err() == nil {
			w.send(ctx, u, games, time.Since(began), err)
		}
		w.playing(u.Index, false)
	}
}

// playing notes that a unit is played, or no more.
func (w *worker) playing(index int, now bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now {
		w.plays = append(w.plays, index)
	} else if k := slices.Index(w.plays, index); k >= 0 {
		w.plays = slices.Delete(w.plays, k, k+1)
	}
}

// next asks for a task; nil if there is none.
func (w *worker) next(ctx context.Context) (*match.Unit, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	m, err := w.nc.RequestWithContext(ctx, fleet.Subject(w.spec.Run, "next"), fleet.JSON(request{w.name}))
	if err != nil {
		return nil, err
	}
	var r reply
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return nil, err
	}
	w.counts.Queued.Store(int64(r.Queued))
	return r.Unit, nil
}

// unit plays a unit.
func (w *worker) unit(ctx context.Context, u *match.Unit) (games []*record.Record, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return w.match.PlayUnit(ctx, *u)
}

// send sends a result until the host has it, or why there is none.
func (w *worker) send(ctx context.Context, u *match.Unit, games []*record.Record, busy time.Duration, failed error) {
	r := result{Index: u.Index, Worker: w.name, Busy: busy.Microseconds(), Games: games, Failed: failed != nil}
	if failed != nil {
		r.Games = nil
		w.counts.Failed.Add(1)
		w.log.Warn("a task failed", "unit", u.Index, "error", failed)
		fleet.SayTrouble(w.nc, w.spec.Run, fleet.Trouble{Task: taskName(u.Index), Worker: w.name, Error: failed.Error()})
	}
	for ctx.Err() == nil {
		err := w.request(ctx, &r)
		if err == nil {
			break
		}
		w.log.Warn("a result could not be sent, trying again", "unit", u.Index, "error", err)
		pause(ctx, time.Second)
	}
	if failed == nil {
		w.counts.Tasks.Add(1)
		w.counts.Games.Add(int64(len(games)))
		for _, g := range games {
			w.counts.Moves.Add(int64(len(g.Choices)))
		}
		w.counts.Busy.Add(busy.Microseconds())
	}
}

func (w *worker) request(ctx context.Context, r *result) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	data := fleet.JSON(r)
	if len(data) > broker.LargestMessage/2 {
		name, err := w.files.Put(ctx, fleet.JSON(r.Games))
		if err != nil {
			return err
		}
		r.Object, r.Games = name, nil
		data = fleet.JSON(r)
	}
	_, err := w.nc.RequestWithContext(ctx, fleet.Subject(w.spec.Run, "result"), data)
	return err
}

// pause waits for a time or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
