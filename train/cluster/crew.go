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

// A crew is what a learner knows of its workers.
type crew struct {
	learner *Learner
	nc      *nats.Conn

	mu       sync.Mutex
	workers  map[string]*crewWorker
	troubles []trouble
}

type crewWorker struct {
	WorkerRow
	at time.Time
}

func newCrew(l *Learner) *crew { return &crew{learner: l, workers: map[string]*crewWorker{}} }

// listen hears signs of life, troubles, notices of the broker and questions for the status.
func (c *crew) listen(ctx context.Context, nc *nats.Conn) error {
	c.nc = nc
	run := c.learner.spec.Run
	for subject, hear := range map[string]nats.MsgHandler{
		helloSubject(run): func(m *nats.Msg) {
			var h hello
			if json.Unmarshal(m.Data, &h) == nil && checkName(h.Name) == nil {
				c.hello(h)
			}
		},
		troubleSubject(run): func(m *nats.Msg) {
			var t trouble
			if json.Unmarshal(m.Data, &t) == nil {
				c.trouble(t)
			}
		},
		statusSubject(run): func(m *nats.Msg) {
			_ = m.Respond(mustJSON(c.learner.Status())) // who asked may be gone
		},
	} {
		sub, err := nc.Subscribe(subject, hear)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() })
	}
	return c.learner.listenExceeded(ctx, nc)
}

// of returns the entry of a worker. The caller holds mu.
func (c *crew) of(name string) *crewWorker {
	w := c.workers[name]
	if w == nil {
		w = &crewWorker{WorkerRow: WorkerRow{Name: name, State: playing}}
		if len(c.workers) < mostWorkers {
			c.workers[name] = w
		}
	}
	w.at = time.Now()
	return w
}

func (c *crew) hello(h hello) {
	c.mu.Lock()
	_, known := c.workers[h.Name]
	w := c.of(h.Name)
	before := w.State
	w.Threads, w.State = h.Threads, h.State
	c.mu.Unlock()
	log := c.learner.options.Log
	switch {
	case h.State == refused && before != refused:
		log.Warn("a worker was refused", "worker", h.Name, "reason", h.Why)
	case !known:
		log.Info("a worker joined", "worker", h.Name, "threads", h.Threads)
	case h.State == left && before != left:
		log.Info("a worker left", "worker", h.Name)
	}
}

func (c *crew) trouble(t trouble) {
	c.learner.options.Log.Warn("a task failed", "task", t.Task, "worker", t.Worker, "error", t.Error)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.troubles) == mostTroubles {
		c.troubles = slices.Delete(c.troubles, 0, 1)
	}
	c.troubles = append(c.troubles, t)
}

// reports returns what workers said of a task.
func (c *crew) reports(task string) (all []trouble) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.troubles {
		if t.Task == task {
			all = append(all, t)
		}
	}
	return all
}

func (c *crew) counted(r *resultMessage, s *selfplay.Slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.of(r.worker)
	w.Tasks++
	w.Games += s.Ended()
	w.Moves += s.Moves()
	w.Busy += time.Duration(r.busy) * time.Microsecond
}

func (c *crew) dropped(worker string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of(worker).Dropped++
}

// rows returns the workers in the order of their names.
func (c *crew) rows() (all []WorkerRow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		row := w.WorkerRow
		if row.Seen = time.Since(w.at); row.State == playing && row.Seen > silentFor {
			row.State = silent
		}
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b WorkerRow) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// waitGone waits until no worker plays, for a time at most.
func (c *crew) waitGone(ctx context.Context, most time.Duration) {
	gone := func() bool {
		return !slices.ContainsFunc(c.rows(), func(w WorkerRow) bool { return w.State == playing })
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
