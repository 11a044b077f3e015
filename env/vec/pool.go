package vec

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"blockyard/env"
)

// A pool is the goroutines, the caller's among them, that run a job on every environment, a chunk at a time.
type pool struct {
	e       *Env
	job     job
	workers []*worker
	chunk   int             // environments that a worker takes at once
	next    atomic.Int64    // first environment that no worker has taken
	wake    []chan struct{} // one per worker but the first
	done    sync.WaitGroup
	ended   sync.WaitGroup
	errMu   sync.Mutex
	err     error // of errAt, the lowest environment that failed
	errAt   int
}

// A worker is the memory that one goroutine has to itself.
type worker struct {
	id    int
	legal []env.Action
	view  env.State // the copy that an agent sees
	// planes and globals receive what Observe writes when the batch has no slab for it.
	planes  []uint8
	globals []float32
	before  measures         // before a step
	at      int              // the environment it works on
	illegal uint64           // illegal actions that were replaced
	moves   [MovesLen]uint16 // of agents in this step, as Batch.Moves has them
	log     []uint16         // the same from a Log, of the step being replayed; nil if none is
	asked   uint64           // choices of agents
}

// A job is what run does on each environment, with its arguments.
type job struct {
	do      func(e *Env, w *worker, i int, j *job) error
	changes bool // an error leaves environments half stepped
	actions []env.Action
	seeds   Seeds
	mask    []bool
	out     *Batch
	rows    rowSlabs // of out
	final   rowSlabs // of out, for episodes that end
	each    func(worker, i int)
	logs    []*Log // by environment, nil for those that are not replayed
}

// write lets the job write to out.
func (j *job) write(out *Batch) {
	j.out = out
	j.rows = rowSlabs{out.Planes, out.Globals, out.Seat, out.Legal}
	j.final = rowSlabs{out.FinalPlanes, out.FinalGlobals, out.FinalSeat, out.FinalLegal}
}

func (e *Env) newWorker(id int) *worker {
	return &worker{id: id, legal: make([]env.Action, 0, e.g.MaxLegal), view: e.g.New(e.c.Seats),
		planes: make([]uint8, e.planes), globals: make([]float32, e.g.Globals())}
}

func (p *pool) start(e *Env, workers int) {
	p.e = e
	workers = min(workers, len(e.slots))
	p.chunk = max(1, min(64, len(e.slots)/(4*workers)))
	for id := range workers {
		w := e.newWorker(id)
		p.workers = append(p.workers, w)
		if id == 0 {
			continue
		}
		wake := make(chan struct{}, 1)
		p.wake = append(p.wake, wake)
		p.ended.Go(func() {
			for range wake {
				p.drain(w)
				p.done.Done()
			}
		})
	}
}

func (p *pool) stop() {
	for _, wake := range p.wake {
		close(wake)
	}
	p.wake = nil
	p.ended.Wait()
}

// run does the job on every environment, and returns the error of the lowest one that failed.
func (p *pool) run(j job) error {
	if err := p.e.ready(); err != nil {
		return err
	}
	p.job = j
	if j.out != nil {
		p.job.write(j.out)
	}
	p.next.Store(0)
	chunks := (len(p.e.slots) + p.chunk - 1) / p.chunk
	extra := min(len(p.wake), chunks-1)
	p.done.Add(extra)
	for _, wake := range p.wake[:extra] {
		wake <- struct{}{}
	}
	p.drain(p.workers[0])
	p.done.Wait()
	p.job = job{}
	if p.err == nil {
		return nil
	}
	err := fmt.Errorf("vec %s: environment %d: %w", p.e.g.Name, p.errAt, p.err)
	p.err = nil
	if j.changes {
		p.e.broken = fmt.Errorf("%w; reset all environments to go on", err)
	}
	return err
}

// A PanicError is a panic while an environment was stepped: a bug in a game or an agent. Its text leaves the stack out.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// drain takes chunks until none are left, an environment fails or the context ends. Chunks are taken in ascending
// order: the lowest environment that fails is reached in any case.
func (p *pool) drain(w *worker) {
	defer func() {
		if r := recover(); r != nil {
			p.fail(w.at, &PanicError{r, debug.Stack()})
		}
	}()
	for hi, n := 0, len(p.e.slots); hi < n; {
		hi = int(p.next.Add(int64(p.chunk)))
		for i := hi - p.chunk; i < min(hi, n); i++ {
			w.at = i
			err := p.e.c.Context.Err()
			if err == nil {
				err = p.job.do(p.e, w, i, &p.job)
			}
			if err != nil {
				p.fail(i, err)
				return
			}
		}
	}
}

func (p *pool) fail(i int, err error) {
	p.errMu.Lock()
	defer p.errMu.Unlock()
	if p.err == nil || i < p.errAt {
		p.err, p.errAt = err, i
	}
}
