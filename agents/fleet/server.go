package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"blockyard/agents/fleet/broker"
	"blockyard/datasets/program"
)

// Options are the settings of a Server: its words in messages, and how much may be under way.
type Options struct {
	Folder    string        // for jobs that nobody can do
	Noun      string        // for a job, in messages and names of files
	Jobs      int           // that are under way at most
	Iteration func() int    // for the Status; nil: jobs whose result was counted
	Keep      time.Duration // of what is left in the broker without a process; 0: KeepFor
	Log       *slog.Logger
}

// A Server gives the jobs of a run to workers.
type Server struct {
	Objects *Objects // that jobs name in their specs

	options Options
	site    *broker.Site
	js      jetstream.JetStream
	kv      jetstream.KeyValue
	run     Run // as it was announced
	lease   *lease
	queues  *queues
	roster  *roster
	ctx     context.Context // ends when the run has failed or is closed; its cause says why
	fail    context.CancelCauseFunc
	running sync.WaitGroup // goroutines

	taking sync.Mutex // held while a result is dealt with
	last   time.Time  // of the last result

	mu      sync.Mutex
	jobs    map[string]*Job // without a result
	counted int
}

// Serve takes the lease of a run at a site and begins to take results; workers wait for Open. The caller sets ID, Kind,
// Game, Once, Limits, Facts and Spec of the run, and must Close the server. The site stays the caller's.
func Serve(ctx context.Context, site *broker.Site, run Run, o Options) (*Server, error) {
	if err := CheckName(run.ID); err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	run.Version, run.State, run.Token = Version, Paused, rand.Text()
	run.Holder = fmt.Sprintf("process %d on %s", os.Getpid(), host)
	s := &Server{options: o, site: site, jobs: map[string]*Job{}, last: time.Now()}
	s.ctx, s.fail = context.WithCancelCause(context.Background())
	var err error
	if s.js, err = jetstream.New(site.Conn); err == nil {
		s.kv, err = openRuns(ctx, s.js, true)
	}
	if err != nil {
		return nil, explain(err)
	}
	s.lease = &lease{kv: s.kv, clock: clock{time.Now, time.After}, run: run}
	if err := s.lease.take(ctx, site.Embedded()); err != nil {
		return nil, err
	}
	s.run = s.lease.run
	if s.queues, err = makeQueues(ctx, s.js, &s.run, o.Jobs, site.Embedded()); err == nil {
		s.Objects, err = createObjects(ctx, s.js, run.ID)
	}
	if err != nil {
		return nil, err
	}
	s.options.Log = sparing(o.Log, time.Now)
	s.roster = newRoster(&s.run, s.options.Log)
	taking, err := s.queues.results.Consume(s.take, jetstream.PullMaxMessages(256))
	if err == nil {
		context.AfterFunc(s.ctx, taking.Stop)
		err = s.roster.listen(s.ctx, site.Conn, s.Status)
	}
	if err != nil {
		return nil, errors.Join(explain(err), s.Close(false))
	}
	s.running.Go(s.hold)
	s.running.Go(s.watch)
	return s, nil
}

// Open lets workers in. What they need besides jobs, such as objects, must be there.
func (s *Server) Open(ctx context.Context) error {
	if err := s.lease.write(ctx, func(r *Run) { r.State = Running }); err != nil {
		return explain(err)
	}
	removed, err := sweep(ctx, s.site.Conn, s.js, s.kv, s.run.ID, cmp.Or(s.options.Keep, KeepFor))
	if err != nil || len(removed) > 0 {
		s.options.Log.Info("removed from the broker what old runs have left", "runs", removed, "error", err)
	}
	return nil
}

// Run returns the id of the run, by which workers find it.
func (s *Server) Run() string { return s.run.ID }

// Workers returns what each worker that was ever seen has done.
func (s *Server) Workers() []WorkerRow { return s.roster.rows() }

// Threads returns how many goroutines of workers play now.
func (s *Server) Threads() (n int) {
	for _, w := range s.Workers() {
		if w.State == Playing {
			n += w.Threads
		}
	}
	return n
}

// Status returns the state of the run and its queues. It waits for the broker for a second at most, and then leaves
// the lengths of the queues 0.
func (s *Server) Status() Status {
	s.mu.Lock()
	st := Status{Run: s.run.ID, Kind: s.run.Kind, Game: s.run.Game, Epoch: s.run.Epoch, Iteration: s.counted,
		Open: len(s.jobs), Workers: s.Workers()}
	s.mu.Unlock()
	if s.options.Iteration != nil {
		st.Iteration = s.options.Iteration()
	}
	ctx, cancel := context.WithTimeout(context.Background(), askFor/2) // who asks waits for the answer
	defer cancel()
	stored, err := s.queues.tasks.Info(ctx)
	if taken, e := s.queues.jobs.Info(ctx); errors.Join(err, e) == nil {
		st.Queued = stored.State.Msgs - min(stored.State.Msgs, uint64(taken.NumAckPending))
	}
	if stored, err = s.queues.unread.Info(ctx); err == nil {
		st.Unread = stored.State.Msgs
	}
	return st
}

// Check returns why the run must not go on: another process has it, or a job cannot be done. Call it before saving.
func (s *Server) Check(ctx context.Context) error {
	if err := s.Err(); err != nil {
		return err
	}
	return s.Explain(s.lease.held(ctx))
}

// hold renews the lease until the run is closed. It ends the run if another process has the lease, or if waiting for
// the broker does not help: it is connected, and has confirmed nothing for a while.
func (s *Server) hold() {
	for silent := 0; program.Sleep(s.ctx, leaseFor/4) == nil; {
		err := s.lease.write(s.ctx, nil)
		switch {
		case err == nil:
			silent = 0
		case errors.Is(err, ErrDriven):
			s.fail(err)
		default:
			s.options.Log.Warn("the broker does not confirm messages, trying again", "error", err)
			if silent++; !s.site.IsConnected() {
				silent = 1
			}
			if silent > 4 || s.site.Check() != nil { // half a minute without an answer
				s.fail(s.Explain(err))
			}
		}
	}
}

// Explain says what the user can do about an error of the broker.
func (s *Server) Explain(err error) error {
	if err == nil || errors.Is(err, ErrDriven) {
		return err
	}
	if broken := s.site.Check(); broken != nil {
		return broken
	}
	return explain(err)
}

// Fail ends the run with an error, if it is the first one. Err then returns it.
func (s *Server) Fail(err error) { s.fail(err) }

// Failed is closed when the run has failed; see Err.
func (s *Server) Failed() <-chan struct{} { return s.ctx.Done() }

// Err returns why the run has ended, or nil while it runs.
func (s *Server) Err() error { return context.Cause(s.ctx) }

// Close gives the run back. finished says that it is over, so that workers leave and the queues go.
func (s *Server) Close(finished bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	state := map[bool]string{false: Paused, true: Done}[finished]
	held := s.site.Check() == nil && !errors.Is(s.lease.held(ctx), ErrDriven)
	if held {
		errs = append(errs, explain(s.lease.write(ctx, func(r *Run) { r.State = state })))
	}
	if held && finished {
		s.roster.waitGone(ctx)
		errs = append(errs, removeQueues(ctx, s.js, s.run.ID, s.run.Epoch+1), deleteObjects(ctx, s.js, s.run.ID))
	}
	s.fail(context.Canceled)
	s.running.Wait()
	switch {
	case held && finished && s.run.Once:
		errs = append(errs, s.kv.Purge(ctx, runKey(s.run.ID)))
	case held:
		errs = append(errs, s.lease.write(ctx, func(r *Run) { r.Free = true }))
	}
	return errors.Join(errs...)
}

// A Session is a Server and its site, which end together. It is nil for a command whose games no workers play.
type Session struct {
	*Server
	Site *broker.Site
	Out  io.Writer // gets what people should know
}

// Check is Server.Check. A nil Session, whose games are played in this process, is always in order.
func (s *Session) Check(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s.Server.Check(ctx)
}

// Progress returns in one line what each worker has done, or "" for a nil Session.
func (s *Session) Progress() string {
	if s == nil {
		return ""
	}
	return Progress(s.Workers())
}

// Close gives the run back, prints who did what, and closes the site. finished says that the run is over.
func (s *Session) Close(finished bool) error {
	if s == nil {
		return nil
	}
	err := s.Server.Close(finished)
	fmt.Fprint(s.Out, Table(s.Workers()))
	return errors.Join(err, s.Site.Close(finished))
}

// A lease is the entry of a run that one process drives. The process renews it; whoever finds one that is not renewed
// for leaseFor takes it with the next epoch. Each side measures with its own clock, so that clocks need not agree.
type lease struct {
	kv    jetstream.KeyValue
	clock clock

	mu       sync.Mutex
	run      Run
	revision uint64
	renewed  time.Time
	lost     error // why the lease is lost for good
}

// A clock measures times; tests replace it.
type clock struct {
	now   func() time.Time
	after func(time.Duration) <-chan time.Time
}

const leaseFor = 10 * time.Second

// ErrDriven says that another process holds the lease of this run: only one process may drive it at a time.
var ErrDriven = errors.New("another process drives this run")

// take takes the lease. alone: nobody else can reach the broker, so that the lease of a dead process need not run out.
func (l *lease) take(ctx context.Context, alone bool) error {
	old, err := get(ctx, l.kv, l.run.ID)
	if errors.Is(err, ErrNoRun) {
		old = &Run{Free: true}
	} else if err != nil {
		return err
	}
	for until := l.clock.now().Add(leaseFor + leaseFor/5); !old.Free && !alone && l.clock.now().Before(until); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.clock.after(leaseFor / 20):
		}
		now, err := get(ctx, l.kv, l.run.ID)
		if err != nil {
			return err
		}
		if now.revision != old.revision {
			return fmt.Errorf("%w: %s. Stop it first, or start a run of its own", ErrDriven, old.Holder)
		}
	}
	l.run.Epoch, l.run.Excluded = old.Epoch+1, old.Excluded
	l.renewed = l.clock.now()
	if old.revision == 0 {
		l.revision, err = l.kv.Create(ctx, runKey(l.run.ID), JSON(l.run))
	} else {
		l.revision, err = l.kv.Update(ctx, runKey(l.run.ID), JSON(l.run), old.revision)
	}
	if wrongRevision(err) {
		return fmt.Errorf("%w: it took the lease just now", ErrDriven)
	}
	return err
}

// write renews the lease and may change the entry. ErrDriven: another process has it; other errors may pass.
func (l *lease) write(ctx context.Context, change func(*Run)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	ctx, cancel := context.WithTimeout(ctx, leaseFor/2)
	defer cancel()
	began := l.clock.now()
	l.run.Beat++
	if change != nil {
		change(&l.run)
	}
	revision, err := l.kv.Update(ctx, runKey(l.run.ID), JSON(l.run), l.revision)
	for wrongRevision(err) {
		now, e := get(ctx, l.kv, l.run.ID)
		if e != nil {
			return e
		}
		if now.Token != l.run.Token {
			l.lost = fmt.Errorf("%w: %s took over. This one has stopped; nothing that it played since counts",
				ErrDriven, cmp.Or(now.Holder, "nobody"))
			return l.lost
		}
		// an earlier renewal arrived, its reply did not
		revision, err = l.kv.Update(ctx, runKey(l.run.ID), JSON(l.run), now.revision)
	}
	if err == nil {
		l.revision, l.renewed = revision, began
	}
	return err
}

// held returns nil if the lease cannot have run out. It renews one that could have.
func (l *lease) held(ctx context.Context) error {
	l.mu.Lock()
	fresh := l.lost == nil && l.clock.now().Sub(l.renewed) < leaseFor/2
	l.mu.Unlock()
	if fresh {
		return nil
	}
	return l.write(ctx, nil)
}
