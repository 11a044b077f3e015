package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"
)

// A WorkerRow is what one worker has done for the run, as the process of the run counts.
type WorkerRow struct {
	Name    string        `json:"name"`
	Threads int           `json:"threads"` // goroutines that play
	Tasks   int           `json:"tasks"`   // results that were counted
	Games   int           `json:"games"`   // that ended in them
	Moves   int           `json:"moves"`
	Dropped int           `json:"dropped"` // results that came late or twice
	Busy    time.Duration `json:"busy"`    // of all goroutines, in counted tasks
	Seen    time.Duration `json:"seen"`    // since its last sign of life
	State   string        `json:"state"`
}

// A Hello is a worker's sign of life.
type Hello struct {
	Name    string `json:"name"`
	Threads int    `json:"threads"`
	State   string `json:"state"`
	Why     string `json:"why,omitempty"` // it was refused
	// Tasks are the numbers of those that it plays, in a match. Self-play says this to the queue of tasks.
	Tasks []int `json:"tasks,omitempty"`
}

// WorkerCounts are what a worker has done, as it counts. Its fields are safe for concurrent use.
type WorkerCounts struct {
	Tasks, Failed, Games, Moves atomic.Int64
	Busy                        atomic.Int64 // microseconds of all goroutines
	Queued                      atomic.Int64 // tasks that waited when the last one was taken
}

// The states of a worker.
const (
	Playing = "playing"
	Left    = "left"
	Refused = "refused"
	Silent  = "silent" // no sign of life for silentFor
)

// Workers say hello every HelloEvery; silentFor is several of these.
const (
	HelloEvery = time.Second
	silentFor  = 5 * time.Second
)

// A Trouble is why a worker could not play a task.
type Trouble struct {
	Task   string `json:"task"`
	Worker string `json:"worker"`
	Error  string `json:"error"`
}

// mostTroubles are kept, mostWorkers are listed: names come from outside.
const (
	mostTroubles = 256
	mostWorkers  = 10000
)

// A Roster is what the process of a run knows of its workers.
type Roster struct {
	// OnHello, if set before Listen, is called with every sign of life.
	OnHello func(Hello)

	run string
	log *slog.Logger

	mu       sync.Mutex
	all      map[string]*rosterEntry
	troubles []Trouble
}

type rosterEntry struct {
	WorkerRow
	at time.Time
}

// NewRoster returns the empty roster of a run.
func NewRoster(run string, log *slog.Logger) *Roster {
	return &Roster{run: run, log: log, all: map[string]*rosterEntry{}}
}

// Listen hears signs of life, troubles and questions for the status, until ctx ends.
func (r *Roster) Listen(ctx context.Context, nc *nats.Conn, status func() Status) error {
	for subject, hear := range map[string]nats.MsgHandler{
		helloSubject(r.run): func(m *nats.Msg) {
			var h Hello
			if json.Unmarshal(m.Data, &h) == nil && CheckName(h.Name) == nil {
				r.hello(h)
			}
		},
		troubleSubject(r.run): func(m *nats.Msg) {
			var t Trouble
			if json.Unmarshal(m.Data, &t) == nil {
				r.Trouble(t)
			}
		},
		statusSubject(r.run): func(m *nats.Msg) {
			_ = m.Respond(JSON(status())) // who asked may be gone
		},
	} {
		sub, err := nc.Subscribe(subject, hear)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	}
	return nil
}

// of returns the entry of a worker. The caller holds mu.
func (r *Roster) of(name string) *rosterEntry {
	w := r.all[name]
	if w == nil {
		w = &rosterEntry{WorkerRow: WorkerRow{Name: name, State: Playing}}
		if len(r.all) < mostWorkers {
			r.all[name] = w
		}
	}
	w.at = time.Now()
	return w
}

func (r *Roster) hello(h Hello) {
	r.mu.Lock()
	_, known := r.all[h.Name]
	w := r.of(h.Name)
	before := w.State
	w.Threads, w.State = h.Threads, h.State
	r.mu.Unlock()
	if r.OnHello != nil {
		r.OnHello(h)
	}
	log := r.log
	switch {
	case h.State == Refused && before != Refused:
		log.Warn("a worker was refused", "worker", h.Name, "reason", h.Why)
	case !known:
		log.Info("a worker joined", "worker", h.Name, "threads", h.Threads)
	case h.State == Left && before != Left:
		log.Info("a worker left", "worker", h.Name)
	}
}

// Trouble takes a report into account.
func (r *Roster) Trouble(t Trouble) {
	r.log.Warn("a task failed", "task", t.Task, "worker", t.Worker, "error", t.Error)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.troubles) == mostTroubles {
		r.troubles = slices.Delete(r.troubles, 0, 1)
	}
	r.troubles = append(r.troubles, t)
}

// Reports returns what workers said of a task.
func (r *Roster) Reports(task string) (all []Trouble) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.troubles {
		if t.Task == task {
			all = append(all, t)
		}
	}
	return all
}

// SayHello publishes a sign of life.
func SayHello(nc *nats.Conn, run string, h Hello) { _ = nc.Publish(helloSubject(run), JSON(h)) } // the next may arrive

// SayTrouble publishes why a task could not be played.
func SayTrouble(nc *nats.Conn, run string, t Trouble) { _ = nc.Publish(troubleSubject(run), JSON(t)) }

// Counted adds a result that counts.
func (r *Roster) Counted(worker string, games, moves int, busy time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.of(worker)
	w.Tasks++
	w.Games += games
	w.Moves += moves
	w.Busy += busy
}

// Dropped adds a result that came late or twice.
func (r *Roster) Dropped(worker string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(worker).Dropped++
}

// Rows returns the workers in the order of their names.
func (r *Roster) Rows() (all []WorkerRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.all {
		row := w.WorkerRow
		if row.Seen = time.Since(w.at); row.State == Playing && row.Seen > silentFor {
			row.State = Silent
		}
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b WorkerRow) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Threads returns how many goroutines of workers play now.
func (r *Roster) Threads() (n int) {
	for _, w := range r.Rows() {
		if w.State == Playing {
			n += w.Threads
		}
	}
	return n
}

// WaitGone waits until no worker plays, for a time at most.
func (r *Roster) WaitGone(ctx context.Context, most time.Duration) {
	gone := func() bool {
		return !slices.ContainsFunc(r.Rows(), func(w WorkerRow) bool { return w.State == Playing })
	}
	for end := time.Now().Add(most); !gone() && time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(20 * time.Millisecond)
	}
}

// Table shows workers as a table for people.
func Table(workers []WorkerRow) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "worker\tthreads\ttasks\tgames\tchoices\tbusy\tdropped\tstate\t")
	sum := WorkerRow{Name: "all"}
	row := func(w WorkerRow) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%v\t%d\t%s\t\n", w.Name, w.Threads, w.Tasks, w.Games, w.Moves,
			w.Busy.Round(time.Millisecond*100), w.Dropped, w.State)
	}
	for _, w := range workers {
		row(w)
		sum.Threads += w.Threads
		sum.Tasks += w.Tasks
		sum.Games += w.Games
		sum.Moves += w.Moves
		sum.Busy += w.Busy
		sum.Dropped += w.Dropped
	}
	row(sum)
	_ = t.Flush() // a strings.Builder takes everything
	return b.String()
}

// Progress says in a line how many games each worker has played.
func Progress(rows []WorkerRow) string {
	var parts []string
	for _, w := range rows {
		parts = append(parts, fmt.Sprintf("%s %d", w.Name, w.Games))
	}
	if len(parts) == 0 {
		return "no workers yet"
	}
	return fmt.Sprintf("%d workers (%s games)", len(parts), strings.Join(parts, ", "))
}
