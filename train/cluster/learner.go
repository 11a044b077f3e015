package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blockyard/agents/fleet"
	"blockyard/agents/mlp"
	"blockyard/datasets/program/disk"
	"blockyard/train/selfplay"
)

// LearnerOptions are the settings of a Learner.
type LearnerOptions struct {
	Folder string // of the run: holds its id, and files of tasks that nobody can play
	Alone  bool   // the broker is this process's own
	// Check returns why the broker cannot store messages, as far as this process knows. nil: it knows nothing.
	Check  func() error
	Limits Limits
	Log    *slog.Logger
}

// A Learner plays the rollouts of a run by workers. It implements selfplay.Remote.
type Learner struct {
	options LearnerOptions
	run     *selfplay.Run
	spec    *Spec
	js      jetstream.JetStream
	kv      jetstream.KeyValue
	lease   *lease
	queues  *queues
	objects *fleet.Objects
	player  *selfplay.Player // decodes results
	workers *fleet.Roster
	stop    context.CancelFunc
	tasks   sync.WaitGroup // goroutines

	mu      sync.Mutex
	sent    map[place]*sentTask // until their iteration is over
	waiting int                 // the iteration that Play waits for
	arrived chan struct{}       // has a value after an arrival or a failure
	last    time.Time           // of the last arrival
	cost    cost                // of the last results
	failed  error               // ends the run

	checks map[selfplay.Rollout]string // self-tests by kind of rollout
	net    *mlp.Net                    // in the object store
	netID  string
}

// RunID returns the id of the run in a folder. It creates one if there is none.
func RunID(folder string) (string, error) {
	path := filepath.Join(folder, "run-id")
	text, err := os.ReadFile(path)
	if err == nil {
		id := strings.TrimSpace(string(text))
		return id, fleet.CheckName(id)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	id := rand.Text()[:10]
	return id, errors.Join(os.MkdirAll(folder, 0o755), disk.WriteText(path, 0o644, id+"\n"))
}

// NewLearner takes the lease of the run and opens its queues. The caller must Close the learner.
func NewLearner(ctx context.Context, nc *nats.Conn, r *selfplay.Run, o LearnerOptions) (*Learner, error) {
	id, err := RunID(o.Folder)
	if err != nil {
		return nil, err
	}
	l := &Learner{options: o, run: r, sent: map[place]*sentTask{}, arrived: make(chan struct{}, 1),
		checks: map[selfplay.Rollout]string{}, last: time.Now()}
	if l.spec, err = newSpec(r, id, o.Limits); err != nil {
		return nil, err
	}
	if l.player, err = selfplay.NewPlayer(r.Game, r.Settings()); err != nil {
		return nil, err
	}
	if l.js, err = jetstream.New(nc); err != nil {
		return nil, err
	}
	if l.kv, err = fleet.Runs(ctx, l.js, true); err != nil {
		return nil, fleet.Explain(err)
	}
	host, _ := os.Hostname()
	holder := fmt.Sprintf("process %d on %s", os.Getpid(), host)
	if l.lease, err = takeLease(ctx, l.kv, id, holder, rand.Text(), o.Alone); err != nil {
		return nil, err
	}
	l.spec.Epoch = l.lease.value.Epoch
	if l.queues, err = makeQueues(ctx, l.js, l.spec, o.Alone); err != nil {
		return nil, err
	}
	if l.objects, err = fleet.CreateObjects(ctx, l.js, id, 0); err != nil {
		return nil, err
	}
	l.workers = fleet.NewRoster(id, o.Log)
	return l, l.start(nc)
}

// start begins to take results and to hold the lease, then lets workers in.
func (l *Learner) start(nc *nats.Conn) error {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	taking, err := l.queues.toLearn.Consume(l.take, jetstream.PullMaxMessages(256))
	if err != nil {
		return fleet.Explain(err)
	}
	context.AfterFunc(ctx, taking.Stop)
	if err := l.listen(ctx, nc); err != nil {
		return err
	}
	l.tasks.Go(func() {
		if err := l.lease.hold(ctx, l.away); err != nil {
			l.fail(err)
		}
	})
	l.tasks.Go(func() { l.watch(ctx) })
	if err := l.publishSpec(ctx, fleet.Running); err != nil {
		return err
	}
	if removed, err := fleet.Sweep(ctx, nc, l.js, l.kv, l.spec.Run, fleet.KeepFor); err != nil || len(removed) > 0 {
		l.options.Log.Info("removed from the broker what old runs have left", "runs", removed, "error", err)
	}
	return nil
}

// listen hears workers, questions for the status, and notices of the broker.
func (l *Learner) listen(ctx context.Context, nc *nats.Conn) error {
	return errors.Join(l.workers.Listen(ctx, nc, l.Status), l.listenExceeded(ctx, nc))
}

// publishSpec tells workers the state of the run.
func (l *Learner) publishSpec(ctx context.Context, state string) error {
	if err := l.lease.held(ctx); err != nil {
		return err
	}
	l.spec.State = state
	_, err := l.kv.Put(ctx, fleet.SpecKey(l.spec.Run), fleet.JSON(l.spec))
	return fleet.Explain(err)
}

// Run is the id of the run.
func (l *Learner) Run() string { return l.spec.Run }

// Workers returns what each worker that was ever seen has done.
func (l *Learner) Workers() []fleet.WorkerRow { return l.workers.Rows() }

// Status returns the state of the run.
func (l *Learner) Status() fleet.Status {
	s := fleet.Status{Run: l.spec.Run, Game: l.spec.Game, Epoch: l.spec.Epoch, Workers: l.workers.Rows()}
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

// Check returns an error if the learner must not go on, because another one has the run or because a task cannot
// be played. Call it before saving.
func (l *Learner) Check(ctx context.Context) error {
	l.mu.Lock()
	failed := l.failed
	l.mu.Unlock()
	if failed != nil {
		return failed
	}
	return l.explain(l.lease.held(ctx))
}

// away is called when the lease could not be renewed. It returns an error if waiting does not help.
func (l *Learner) away(err error) error {
	l.options.Log.Warn("the broker does not confirm messages, trying again", "error", err)
	return l.broken()
}

// broken returns why the broker cannot store messages, if that is known.
func (l *Learner) broken() error {
	if l.options.Check == nil {
		return nil
	}
	return l.options.Check()
}

// explain says what the user can do about an error of the broker.
func (l *Learner) explain(err error) error {
	if err == nil || errors.Is(err, ErrDriven) {
		return err
	}
	if broken := l.broken(); broken != nil {
		return broken
	}
	return fleet.Explain(err)
}

// fail ends the run with the first error.
func (l *Learner) fail(err error) {
	l.mu.Lock()
	if l.failed == nil {
		l.failed = err
	}
	l.mu.Unlock()
	l.wake()
}

func (l *Learner) wake() {
	select {
	case l.arrived <- struct{}{}:
	default:
	}
}

// Close gives the run back. finished says that the run is over, so that workers leave and the queues go.
func (l *Learner) Close(finished bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	if l.broken() == nil && !errors.Is(l.lease.held(ctx), ErrDriven) {
		state := fleet.Paused
		if finished {
			state = fleet.Done
		}
		errs = append(errs, l.publishSpec(ctx, state))
		if finished {
			l.workers.WaitGone(ctx, 3*time.Second)
			errs = append(errs, l.queues.remove(ctx, l.js), fleet.DeleteObjects(ctx, l.js, l.spec.Run))
		}
		errs = append(errs, l.lease.free(ctx))
	}
	l.stop()
	l.tasks.Wait()
	return errors.Join(errs...)
}
