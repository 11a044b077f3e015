package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"

	"blockyard/train/selfplay"
)

// A WorkerRow is what one worker has done for the run, as its learner counts.
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

// A hello is a worker's sign of life.
type hello struct {
	Name    string `json:"name"`
	Threads int    `json:"threads"`
	State   string `json:"state"`
	Why     string `json:"why,omitempty"` // it was refused
}

// The states of a worker.
const (
	playing = "playing"
	left    = "left"
	refused = "refused"
	silent  = "silent" // no sign of life for silentFor
)

// Workers say hello every helloEvery; silentFor is several of these.
const (
	helloEvery = time.Second
	silentFor  = 5 * time.Second
)

// A trouble is why a worker could not play a task.
type trouble struct {
	Task   string `json:"task"`
	Worker string `json:"worker"`
	Error  string `json:"error"`
}

// mostTroubles are kept, mostWorkers are listed: names come from outside.
const (
	mostTroubles = 256
	mostWorkers  = 10000
)

// workers are what a learner knows of its workers.
type workers struct {
	learner *Learner
	nc      *nats.Conn

	mu       sync.Mutex
	all      map[string]*workerEntry
	troubles []trouble
}

type workerEntry struct {
	WorkerRow
	at time.Time
}

func newWorkers(l *Learner) *workers { return &workers{learner: l, all: map[string]*workerEntry{}} }

// listen hears signs of life, troubles, notices of the broker and questions for the status.
func (ws *workers) listen(ctx context.Context, nc *nats.Conn) error {
	ws.nc = nc
	run := ws.learner.spec.Run
	for subject, hear := range map[string]nats.MsgHandler{
		helloSubject(run): func(m *nats.Msg) {
			var h hello
			if json.Unmarshal(m.Data, &h) == nil && checkName(h.Name) == nil {
				ws.hello(h)
			}
		},
		troubleSubject(run): func(m *nats.Msg) {
			var t trouble
			if json.Unmarshal(m.Data, &t) == nil {
				ws.trouble(t)
			}
		},
		statusSubject(run): func(m *nats.Msg) {
			_ = m.Respond(mustJSON(ws.learner.Status())) // who asked may be gone
		},
	} {
		sub, err := nc.Subscribe(subject, hear)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	}
	return ws.learner.listenExceeded(ctx, nc)
}

// of returns the entry of a worker. The caller holds mu.
func (ws *workers) of(name string) *workerEntry {
	w := ws.all[name]
	if w == nil {
		w = &workerEntry{WorkerRow: WorkerRow{Name: name, State: playing}}
		if len(ws.all) < mostWorkers {
			ws.all[name] = w
		}
	}
	w.at = time.Now()
	return w
}

func (ws *workers) hello(h hello) {
	ws.mu.Lock()
	_, known := ws.all[h.Name]
	w := ws.of(h.Name)
	before := w.State
	w.Threads, w.State = h.Threads, h.State
	ws.mu.Unlock()
	log := ws.learner.options.Log
	switch {
	case h.State == refused && before != refused:
		log.Warn("a worker was refused", "worker", h.Name, "reason", h.Why)
	case !known:
		log.Info("a worker joined", "worker", h.Name, "threads", h.Threads)
	case h.State == left && before != left:
		log.Info("a worker left", "worker", h.Name)
	}
}

func (ws *workers) trouble(t trouble) {
	ws.learner.options.Log.Warn("a task failed", "task", t.Task, "worker", t.Worker, "error", t.Error)
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.troubles) == mostTroubles {
		ws.troubles = slices.Delete(ws.troubles, 0, 1)
	}
	ws.troubles = append(ws.troubles, t)
}

// reports returns what workers said of a task.
func (ws *workers) reports(task string) (all []trouble) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, t := range ws.troubles {
		if t.Task == task {
			all = append(all, t)
		}
	}
	return all
}

func (ws *workers) counted(r *resultMessage, slots []*selfplay.Slot) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.of(r.worker)
	w.Tasks++
	for _, s := range slots {
		w.Games += s.Ended()
		w.Moves += s.Moves()
	}
	w.Busy += time.Duration(r.busy) * time.Microsecond
}

func (ws *workers) dropped(worker string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.of(worker).Dropped++
}

// rows returns the workers in the order of their names.
func (ws *workers) rows() (all []WorkerRow) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.all {
		row := w.WorkerRow
		if row.Seen = time.Since(w.at); row.State == playing && row.Seen > silentFor {
			row.State = silent
		}
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b WorkerRow) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// threads returns how many goroutines of workers play now.
func (ws *workers) threads() (n int) {
	for _, w := range ws.rows() {
		if w.State == playing {
			n += w.Threads
		}
	}
	return n
}

// waitGone waits until no worker plays, for a time at most.
func (ws *workers) waitGone(ctx context.Context, most time.Duration) {
	gone := func() bool {
		return !slices.ContainsFunc(ws.rows(), func(w WorkerRow) bool { return w.State == playing })
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
