package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"
)

// A WorkerRow is what one worker has done for the run, as the process of the run counts. Without counts, it is the
// worker's sign of life.
type WorkerRow struct {
	Name    string        `json:"name"`
	Threads int           `json:"threads"` // goroutines that play
	Tasks   int           `json:"tasks"`   // results that were counted
	Games   int           `json:"games"`   // that ended in them
	Moves   int           `json:"moves"`
	Dropped int           `json:"dropped"` // results that came late or twice
	Busy    time.Duration `json:"busy"`    // of all goroutines, in counted jobs
	Seen    time.Duration `json:"seen"`    // since its last sign of life
	State   string        `json:"state"`
	Why     string        `json:"why,omitempty"` // it was refused

	at time.Time // of its last sign of life here
}

// The states of a worker.
const (
	Playing = "playing"
	Left    = "left"
	Refused = "refused"
	Silent  = "silent" // no sign of life for silentFor
)

const silentFor = 5 * time.Second

// A Trouble is why a worker could not do a job.
type Trouble struct {
	Job    string `json:"task"`
	Worker string `json:"worker"`
	Error  string `json:"error"`
}

// mostTroubles are kept, mostWorkers are listed: names come from outside.
const (
	mostTroubles = 256
	mostWorkers  = 10000
)

// A roster is what the process of a run knows of its workers.
type roster struct {
	run string
	log *slog.Logger

	mu       sync.Mutex
	all      map[string]*WorkerRow
	troubles []Trouble
}

func newRoster(run string, log *slog.Logger) *roster {
	return &roster{run: run, log: log, all: map[string]*WorkerRow{}}
}

// listen hears signs of life and questions for the status, until ctx ends.
func (r *roster) listen(ctx context.Context, nc *nats.Conn, status func() Status) error {
	for what, hear := range map[string]nats.MsgHandler{
		"status": func(m *nats.Msg) { _ = m.Respond(toJSON(status())) }, // who asked may be gone
		"hello": func(m *nats.Msg) {
			var w WorkerRow
			if json.Unmarshal(m.Data, &w) == nil && CheckName(w.Name) == nil {
				r.hello(w)
			}
		},
	} {
		sub, err := nc.Subscribe(subject(r.run, what), hear)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	}
	return nil
}

// of returns the row of a worker. The caller holds mu.
func (r *roster) of(name string) *WorkerRow {
	w := r.all[name]
	if w == nil {
		w = &WorkerRow{Name: name, State: Playing}
		if len(r.all) < mostWorkers {
			r.all[name] = w
		}
	}
	w.at = time.Now()
	return w
}

// hello takes a sign of life into account.
func (r *roster) hello(h WorkerRow) {
	r.mu.Lock()
	_, known := r.all[h.Name]
	w := r.of(h.Name)
	before := w.State
	w.Threads, w.State, w.Why = h.Threads, h.State, h.Why
	r.mu.Unlock()
	switch {
	case h.State == Refused && before != Refused:
		r.log.Warn("a worker was refused", "worker", h.Name, "reason", h.Why)
		if text, all := allRefused(r.rows()); all {
			r.log.Warn(text)
		}
	case !known:
		r.log.Info("a worker joined", "worker", h.Name, "threads", h.Threads)
	case h.State == Left && before != Left:
		r.log.Info("a worker left", "worker", h.Name)
	}
}

// allRefused reports whether every worker was refused, and says so.
func allRefused(rows []WorkerRow) (text string, all bool) {
	if len(rows) == 0 || slices.ContainsFunc(rows, func(w WorkerRow) bool { return w.State != Refused }) {
		return "", false
	}
	last := slices.MinFunc(rows, func(a, b WorkerRow) int { return int(a.Seen - b.Seen) })
	return fmt.Sprintf("nobody plays: all %d workers were refused; the run waits for others. %s: %s",
		len(rows), last.Name, last.Why), true
}

// trouble takes a report into account.
func (r *roster) trouble(t Trouble) {
	r.log.Warn("a job failed", "job", t.Job, "worker", t.Worker, "error", t.Error)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.troubles = append(r.troubles[max(0, len(r.troubles)-mostTroubles+1):], t)
}

// reports returns what workers said of a job.
func (r *roster) reports(job string) []Trouble {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.troubles), func(t Trouble) bool { return t.Job != job })
}

// counted adds a result that counts.
func (r *roster) counted(worker string, games, moves int, busy time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.of(worker)
	w.Tasks++
	w.Games += games
	w.Moves += moves
	w.Busy += busy
}

// dropped adds a result that came late or twice.
func (r *roster) dropped(worker string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(worker).Dropped++
}

// rows returns the workers in the order of their names.
func (r *roster) rows() (all []WorkerRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.all {
		row := *w
		if row.Seen = time.Since(w.at); row.State == Playing && row.Seen > silentFor {
			row.State = Silent
		}
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b WorkerRow) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// waitGone waits until no worker plays, for a time at most.
func (r *roster) waitGone(ctx context.Context, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	plays := func(w WorkerRow) bool { return w.State == Playing }
	for slices.ContainsFunc(r.rows(), plays) && pause(ctx, 20*time.Millisecond) {
	}
}

// Table shows workers as a table for people.
func Table(workers []WorkerRow) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "worker\tthreads\ttasks\tgames\tchoices\tbusy\tdropped\tstate\t")
	sum := WorkerRow{Name: "all"}
	for _, w := range workers {
		sum.Threads += w.Threads
		sum.Tasks += w.Tasks
		sum.Games += w.Games
		sum.Moves += w.Moves
		sum.Busy += w.Busy
		sum.Dropped += w.Dropped
	}
	for _, w := range append(slices.Clip(workers), sum) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%v\t%d\t%s\t\n", w.Name, w.Threads, w.Tasks, w.Games, w.Moves,
			w.Busy.Round(time.Millisecond*100), w.Dropped, w.State)
	}
	_ = t.Flush() // a strings.Builder takes everything
	return b.String()
}

// Progress says in a line how many games each worker has played.
func Progress(rows []WorkerRow) string {
	if text, all := allRefused(rows); all {
		return text
	}
	var parts []string
	for _, w := range rows {
		parts = append(parts, fmt.Sprintf("%s %d", w.Name, w.Games))
	}
	if len(parts) == 0 {
		return "no workers yet"
	}
	return fmt.Sprintf("%d workers (%s games)", len(parts), strings.Join(parts, ", "))
}
