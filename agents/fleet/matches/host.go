package matches

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blockyard/agents/fleet"
	"blockyard/agents/match"
	"blockyard/datasets/program/disk"
	"blockyard/datasets/record"
)

// Limits are the limits of a match's tasks.
type Limits struct {
	AckWait    time.Duration `json:"ack_wait"`   // after which the task of a silent worker is given to another one
	Deliveries int           `json:"deliveries"` // of a task, before the match gives it up
}

// DefaultLimits suit every match: a worker says every second that it still plays.
var DefaultLimits = Limits{AckWait: 10 * time.Second, Deliveries: 8}

// mostUnits are under way at a time.
const mostUnits = 4096

// A Host gives the units of a match to workers.
type Host struct {
	folder string
	match  *match.Match
	spec   *spec
	js     jetstream.JetStream
	kv     jetstream.KeyValue
	files  *fleet.Objects
	roster *fleet.Roster
	log    *slog.Logger
	stop   context.CancelFunc

	refreshing  sync.WaitGroup
	stopRefresh context.CancelFunc

	mu      sync.Mutex
	tasks   map[int]*task // without a result
	counted int
}

// A task is a unit that has no result yet.
type task struct {
	unit   match.Unit
	worker string        // that plays it; "" for none
	seen   time.Time     // that worker's last sign of life
	tries  int           // how often it was given out
	over   chan struct{} // closed when records or err is there
	games  []*record.Record
	err    error
}

// Options are the settings of a Host.
type Options struct {
	Folder string // for tasks that nobody can play
	Limits Limits
	Log    *slog.Logger
	Keep   time.Duration // of what lies in the broker, without a process that refreshes it. 0: fleet.KeepFor
}

// Start lets workers play a match: it sets m.Remote and m.Workers. The players of m get the agents, b may be nil. The
// caller must Close the host.
func Start(ctx context.Context, nc *nats.Conn, m *match.Match, a Agent, b *Agent, o Options) (*Host, error) {
	h := &Host{folder: o.Folder, match: m, log: o.Log, tasks: map[int]*task{}}
	run := strings.ToLower(rand.Text()[:10])
	seats := max(1, m.Seats)
	if m.Rules.MaxSeats > 1 {
		seats = max(2, m.Seats)
	}
	h.spec = &spec{
		Head:  fleet.Head{Version: Version, Run: run, Kind: fleet.Match, State: fleet.Running, Game: m.Rules.Name},
		Table: m.Rules.Table, Rules: m.Rules.Rules, Features: featuresID(m.Rules),
		Seats: seats, Cap: m.Cap, Steps: m.Steps, Limits: o.Limits,
	}
	files := map[string][]byte{}
	agents := []Agent{a}
	if b != nil {
		agents = append(agents, *b)
	}
	for _, agent := range agents {
		p, err := pack(m.Rules, agent, files)
		if err != nil {
			return nil, err
		}
		h.spec.Players = append(h.spec.Players, p)
	}
	var err error
	if h.spec.Shipped, err = shippedID(m.Rules); err != nil {
		return nil, err
	}
	if h.spec.Check, err = selfTest(ctx, m, seats); err != nil {
		return nil, err
	}
	if err := h.open(ctx, nc, files, cmp.Or(o.Keep, fleet.KeepFor)); err != nil {
		return nil, err
	}
	m.Remote, m.Workers = h.Play, min(m.Units, mostUnits)
	return h, nil
}

// open stores what workers need, and begins to hear them.
func (h *Host) open(ctx context.Context, nc *nats.Conn, files map[string][]byte, keep time.Duration) (err error) {
	if h.js, err = jetstream.New(nc); err != nil {
		return err
	}
	if h.kv, err = fleet.Runs(ctx, h.js, true); err != nil {
		return fleet.Explain(err)
	}
	if h.files, err = fleet.CreateObjects(ctx, h.js, h.spec.Run, keep); err != nil {
		return err
	}
	for _, data := range files {
		if _, err := h.files.Put(ctx, data); err != nil {
			return fmt.Errorf("storing weights: %w", err)
		}
	}
	listening, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.roster = fleet.NewRoster(h.spec.Run, h.log)
	h.roster.OnHello = h.heard
	if err := h.roster.Listen(listening, nc, h.Status); err != nil {
		return err
	}
	for what, answer := range map[string]func(*nats.Msg) []byte{"next": h.next, "result": h.result} {
		sub, err := nc.Subscribe(fleet.Subject(h.spec.Run, what), func(m *nats.Msg) { _ = m.Respond(answer(m)) })
		if err != nil {
			return err
		}
		context.AfterFunc(listening, func() { _ = sub.Unsubscribe() })
	}
	if _, err = h.kv.Put(ctx, fleet.SpecKey(h.spec.Run), fleet.JSON(h.spec)); err != nil {
		return fleet.Explain(err)
	}
	if removed, err := fleet.Sweep(ctx, nc, h.js, h.kv, h.spec.Run, keep); err != nil || len(removed) > 0 {
		h.log.Info("removed from the broker what old runs have left", "runs", removed, "error", err)
	}
	refreshing, stop := context.WithCancel(listening)
	h.stopRefresh = stop
	h.refreshing.Go(func() { h.refresh(refreshing, files, keep/4) })
	return nil
}

// refresh writes what workers need again and again, until ctx ends, because it vanishes when it is old.
func (h *Host) refresh(ctx context.Context, files map[string][]byte, every time.Duration) {
	for pause(ctx, every); ctx.Err() == nil; pause(ctx, every) {
		_, err := h.kv.Put(ctx, fleet.SpecKey(h.spec.Run), fleet.JSON(h.spec))
		for _, data := range files {
			err = errors.Join(err, h.files.Refresh(ctx, data))
		}
		if err != nil && ctx.Err() == nil {
			h.log.Warn("the spec and the weights of the match could not be refreshed", "error", fleet.Explain(err))
		}
	}
}

// Run is the id of the match.
func (h *Host) Run() string { return h.spec.Run }

// Workers returns what each worker that was ever seen has done.
func (h *Host) Workers() []fleet.WorkerRow { return h.roster.Rows() }

// Progress says in a line how many games each worker has played.
func (h *Host) Progress() string { return fleet.Progress(h.Workers()) }

// Play plays a unit by a worker; see match.Match.Remote.
func (h *Host) Play(ctx context.Context, u match.Unit) ([]*record.Record, error) {
	t := &task{unit: u, over: make(chan struct{})}
	h.mu.Lock()
	h.tasks[u.Index] = t
	h.mu.Unlock()
	select {
	case <-t.over:
		return t.games, t.err
	case <-ctx.Done():
		h.mu.Lock()
		delete(h.tasks, u.Index)
		h.mu.Unlock()
		return nil, ctx.Err()
	}
}

// finish ends a task. The caller holds mu.
func (h *Host) finish(t *task, games []*record.Record, err error) {
	delete(h.tasks, t.unit.Index)
	t.games, t.err = games, err
	close(t.over)
}

// heard notes which tasks a worker plays.
func (h *Host) heard(hello fleet.Hello) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, index := range hello.Tasks {
		if t := h.tasks[index]; t != nil && t.worker == hello.Name {
			t.seen = time.Now()
		}
	}
}

// Status returns the state of the match.
func (h *Host) Status() fleet.Status {
	s := fleet.Status{Run: h.spec.Run, Kind: fleet.Match, Game: h.spec.Game, Workers: h.roster.Rows()}
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Iteration, s.Open = h.counted, len(h.tasks)
	for _, t := range h.tasks {
		if t.worker == "" {
			s.Queued++
		}
	}
	return s
}

// giveUp ends the match because of a task that nobody could play. The caller holds mu.
func (h *Host) giveUp(t *task) {
	name := taskName(t.unit.Index)
	reports := h.roster.Reports(name)
	path := filepath.Join(h.folder, "failed-unit-"+name+".json")
	err := disk.WriteText(path, 0o644, string(fleet.JSON(map[string]any{
		"spec": h.spec, "unit": t.unit, "reports": reports,
	}))+"\n")
	says := "no worker said why: it may crash them"
	if len(reports) > 0 {
		last := reports[len(reports)-1]
		says = fmt.Sprintf("worker %s says: %s", last.Worker, last.Error)
	}
	reason := fmt.Errorf("unit %s was given to workers %d times and has no result: %s. It is kept in %s",
		name, t.tries, says, path)
	if err != nil {
		reason = fmt.Errorf("%w, but that failed: %w", reason, err)
	}
	h.finish(t, nil, reason)
}

// Close ends the match for its workers, which leave.
func (h *Host) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	h.stopRefresh()
	h.refreshing.Wait()
	h.spec.State = fleet.Done
	_, err := h.kv.Put(ctx, fleet.SpecKey(h.spec.Run), fleet.JSON(h.spec))
	h.roster.WaitGone(ctx, 3*time.Second)
	h.stop()
	return errors.Join(fleet.Explain(err), fleet.DeleteObjects(ctx, h.js, h.spec.Run),
		h.kv.Delete(ctx, fleet.SpecKey(h.spec.Run)))
}
