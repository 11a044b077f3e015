package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"blockyard/datasets/program"
	"blockyard/env/ansi"
)

// A WorkerRow is what one worker has done for the run, by the count of the run's process, or a worker's sign of life.
type WorkerRow struct {
	Name     string        `json:"name"`
	Threads  int           `json:"threads"` // goroutines that play
	Tasks    int           `json:"tasks"`   // results that were counted
	Games    int           `json:"games"`   // that ended in them
	Moves    int           `json:"moves"`
	Verified int           `json:"verified"` // parts of them that the run's process has played again
	Dropped  int           `json:"dropped"`  // results that do not count: late, repeated or before a Reset
	Busy     time.Duration `json:"busy"`     // of all goroutines, in counted jobs
	Seen     time.Duration `json:"seen"`     // since its last sign of life
	State    string        `json:"state"`
	Why      string        `json:"why,omitempty"` // it was refused

	at       time.Time // of its last sign of life here
	excluded bool      // whatever it says now
}

// The states of a worker.
const (
	Playing = "playing"
	Left    = "left"
	Refused = "refused"
	Silent  = "silent" // no sign of life for silentFor
)

const silentFor = 5 * time.Second

// A Trouble is the error with which a worker has failed in a job.
type Trouble struct {
	Job    string `json:"task"`
	Worker string `json:"worker"`
	Error  string `json:"error"`
}

// What is kept of what workers say: all of it comes from outside.
const (
	mostTroubles = 256
	mostWorkers  = 1024 // that are listed
	mostThreads  = 1024 // of a worker
	mostExcluded = 64   // that are told
	mostText     = 2000 // bytes of a reason
)

// A roster is what the process of a run knows of its workers, by name. It is safe for concurrent use.
type roster struct {
	run string
	log *slog.Logger

	mu       sync.Mutex
	all      map[string]*WorkerRow
	troubles []Trouble
}

// newRoster returns a roster of those who were excluded from the run before.
func newRoster(run *Run, log *slog.Logger) *roster {
	r := &roster{run: run.ID, log: log, all: map[string]*WorkerRow{}}
	for name, why := range run.Excluded {
		r.all[name] = &WorkerRow{Name: name, State: Refused, Why: why, at: time.Now(), excluded: true}
	}
	return r
}

// listen hears signs of life and questions for the status, until ctx ends.
func (r *roster) listen(ctx context.Context, nc *nats.Conn, status func() Status) error {
	for what, hear := range map[string]nats.MsgHandler{
		"status": func(m *nats.Msg) { _ = m.Respond(JSON(status())) }, // who asked may be gone
		"hello": func(m *nats.Msg) {
			var w WorkerRow
			known := func() bool { return w.State == Playing || w.State == Left || w.State == Refused }
			if json.Unmarshal(m.Data, &w) == nil && CheckName(w.Name) == nil && known() {
				w.Threads, w.Why = min(max(w.Threads, 0), mostThreads), ansi.Plain(w.Why, mostText)
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

// of returns a worker's row. One too many replaces a silent one that has done nothing, or is not listed. Holds mu.
func (r *roster) of(name string) *WorkerRow {
	w := r.all[name]
	if w == nil {
		w = &WorkerRow{Name: name, State: Playing}
		maps.DeleteFunc(r.all, func(_ string, x *WorkerRow) bool {
			return len(r.all) >= mostWorkers && x.Tasks == 0 && !x.excluded && time.Since(x.at) > silentFor
		})
		if len(r.all) < mostWorkers {
			r.all[name] = w
		}
	}
	w.at = time.Now()
	return w
}

// exclude notes that a worker is excluded and returns all that are to be told so, with the reasons.
func (r *roster) exclude(name, why string) (all map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.of(name)
	w.State, w.Why, w.excluded = Refused, "excluded: "+ansi.Plain(why, mostText), true
	r.log.Warn("a worker was excluded", "worker", name, "reason", w.Why)
	all = map[string]string{}
	for _, w := range r.all {
		if w.excluded && (len(all) < mostExcluded || w.Name == name) {
			all[w.Name] = w.Why
		}
	}
	return all
}

// excluded reports whether a worker is excluded.
func (r *roster) excluded(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[name] != nil && r.all[name].excluded
}

func (r *roster) hello(h WorkerRow) {
	r.mu.Lock()
	_, known := r.all[h.Name]
	w := r.of(h.Name)
	before := w.State
	if !w.excluded {
		w.Threads, w.State, w.Why = h.Threads, h.State, h.Why
	}
	after := w.State
	r.mu.Unlock()
	switch {
	case !known && after == Playing:
		r.log.Info("a worker joined", "worker", h.Name, "threads", h.Threads)
		return
	case after == before || after == Playing:
		return
	case after == Refused:
		r.log.Warn("a worker was refused", "worker", h.Name, "reason", h.Why)
	default:
		r.log.Info("a worker left", "worker", h.Name)
	}
	if text, all := allRefused(r.rows()); all {
		r.log.Warn(text)
	}
}

// allRefused reports whether nobody plays because workers were refused, and says so.
func allRefused(rows []WorkerRow) (text string, all bool) {
	refused := slices.DeleteFunc(slices.Clone(rows), func(w WorkerRow) bool { return w.State != Refused })
	if len(refused) == 0 || slices.ContainsFunc(rows, func(w WorkerRow) bool { return w.State == Playing }) {
		return "", false
	}
	last := slices.MinFunc(refused, func(a, b WorkerRow) int { return int(a.Seen - b.Seen) })
	others := ""
	if gone := len(rows) - len(refused); gone > 0 {
		others = fmt.Sprintf(", and %d are gone", gone)
	}
	return fmt.Sprintf("nobody plays: all %d workers were refused%s; the run waits for others. %s: %s",
		len(refused), others, last.Name, last.Why), true
}

func (r *roster) trouble(t Trouble) {
	t.Error = ansi.Plain(t.Error, mostText)
	r.log.Warn("a job failed", "job", t.Job, "worker", t.Worker, "error", t.Error)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.troubles = append(r.troubles[max(0, len(r.troubles)-mostTroubles+1):], t)
}

func (r *roster) reports(job string) []Trouble {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.troubles), func(t Trouble) bool { return t.Job != job })
}

// add adds what a worker has done.
func (r *roster) add(worker string, done WorkerRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(worker).add(done)
}

func (w *WorkerRow) add(o WorkerRow) {
	w.Threads += o.Threads
	w.Tasks += o.Tasks
	w.Games += o.Games
	w.Moves += o.Moves
	w.Verified += o.Verified
	w.Busy += o.Busy
	w.Dropped += o.Dropped
}

// reset counts nothing of what workers have done so far.
func (r *roster) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.all {
		w.Dropped += w.Tasks
		w.Tasks, w.Games, w.Moves, w.Verified, w.Busy = 0, 0, 0, 0, 0
	}
}

func (r *roster) rows() (all []WorkerRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.all)) {
		row := *r.all[name]
		if row.Seen = time.Since(row.at); row.State == Playing && row.Seen > silentFor {
			row.State = Silent
		}
		all = append(all, row)
	}
	return all
}

// waitGone waits until no worker plays, for three seconds at most.
func (r *roster) waitGone(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	plays := func(w WorkerRow) bool { return w.State == Playing }
	for slices.ContainsFunc(r.rows(), plays) && program.Sleep(ctx, 20*time.Millisecond) == nil {
	}
}

// Table returns workers as a table for people, one line each and a line of sums.
func Table(workers []WorkerRow) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "worker\tthreads\ttasks\tgames\tchoices\tverified\tbusy\tdropped\tstate\t")
	sum := WorkerRow{Name: "all"}
	for _, w := range workers {
		sum.add(w)
	}
	for _, w := range append(slices.Clip(workers), sum) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%v\t%d\t%s\t\n", w.Name, w.Threads, w.Tasks, w.Games, w.Moves, w.Verified,
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
	if len(rows) == 0 {
		return "no workers yet"
	}
	var parts []string
	for _, w := range rows {
		parts = append(parts, fmt.Sprintf("%s %d", w.Name, w.Games))
	}
	return fmt.Sprintf("%d workers (%s games)", len(parts), strings.Join(parts, ", "))
}

// linesAMinute bounds what workers can make the process of a run log: so many lines at once, and then a minute.
const linesAMinute = 600

// sparing returns a logger that leaves out lines beyond linesAMinute, and says how many.
func sparing(log *slog.Logger, now func() time.Time) *slog.Logger {
	lines := rate.NewLimiter(rate.Every(time.Minute/linesAMinute), linesAMinute)
	return slog.New(&sparingHandler{Handler: log.Handler(), now: now, lines: lines})
}

// A sparingHandler passes on as many records of a log as its rate allows, and then says how many it has left out.
type sparingHandler struct {
	slog.Handler
	now   func() time.Time
	lines *rate.Limiter
	left  atomic.Int64 // lines left out since the last one
}

func (h *sparingHandler) Handle(ctx context.Context, r slog.Record) error {
	if !h.lines.AllowN(h.now(), 1) {
		h.left.Add(1)
		return nil
	}
	if left := h.left.Swap(0); left > 0 {
		r.AddAttrs(slog.Int64("lines_left_out", left))
	}
	return h.Handler.Handle(ctx, r)
}
