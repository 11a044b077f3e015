package vec

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"blockyard/env"
)

// A pool is the goroutines that run a job on every environment, a chunk of environments at a
// time. The goroutine that calls run is one of them.
type pool struct {
	e       *Env
	job     job
	workers []*worker
	chunk   int             // environments that a worker takes at once
	next    atomic.Int64    // first environment that no worker has taken
	wake    []chan struct{} // one per worker but the first
	done    sync.WaitGroup
	ended   sync.WaitGroup
}

// A worker is the memory that one goroutine has to itself.
type worker struct {
	id    int
	legal []env.Action
	view  env.State // the copy that an agent sees
	// planes and globals receive what Observe writes when the batch has no slab for it.
	planes  []uint8
	globals []float32
	before  [env.MaxSeats]int // scores before a step
	at      int               // the environment it works on
	err     error             // of the lowest environment that failed
	errAt   int               // that environment
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
}

func (p *pool) start(e *Env, workers int) {
	p.e = e
	workers = min(workers, len(e.slots))
	p.chunk = max(1, min(64, len(e.slots)/(4*workers)))
	for id := range workers {
		w := &worker{id: id, legal: make([]env.Action, 0, e.g.MaxLegal), view: e.g.New(e.c.Seats),
			planes: make([]uint8, e.planes), globals: make([]float32, e.g.Globals())}
		p.workers = append(p.workers, w)
		if id == 0 {
			continue
		}
		wake := make(chan struct{}, 1)
		p.wake = append(p.wake, wake)
		p.ended.Add(1)
		go p.loop(w, wake)
	}
}

func (p *pool) loop(w *worker, wake chan struct{}) {
	defer p.ended.Done()
	for range wake {
		p.drain(w)
		p.done.Done()
	}
}

func (p *pool) stop() {
	for _, wake := range p.wake {
		close(wake)
	}
	p.wake = nil
	p.ended.Wait()
}

// run does the job on every environment and returns the error of the lowest one that failed.
func (p *pool) run(j job) error {
	p.job = j
	if out := j.out; out != nil {
		p.job.rows = rowSlabs{out.Planes, out.Globals, out.Seat, out.Legal}
		p.job.final = rowSlabs{out.FinalPlanes, out.FinalGlobals, out.FinalSeat, out.FinalLegal}
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
	return p.verdict(j.changes)
}

func (p *pool) verdict(changes bool) error {
	var first *worker
	for _, w := range p.workers {
		if w.err != nil && (first == nil || w.errAt < first.errAt) {
			first = w
		}
	}
	if first == nil {
		return nil
	}
	err := fmt.Errorf("vec %s: environment %d: %w", p.e.g.Name, first.errAt, first.err)
	for _, w := range p.workers {
		w.err = nil
	}
	if changes {
		p.e.broken = fmt.Errorf("%w; reset all environments to go on", err)
	}
	return err
}

// drain takes chunks until none are left.
func (p *pool) drain(w *worker) {
	for {
		hi := int(p.next.Add(int64(p.chunk)))
		lo := hi - p.chunk
		if lo >= len(p.e.slots) {
			return
		}
		p.do(w, lo, min(hi, len(p.e.slots)))
	}
}

// do does the job on environments lo … hi-1 and stops at the first that fails.
func (p *pool) do(w *worker, lo, hi int) {
	defer func() {
		if r := recover(); r != nil {
			w.fail(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	e, j := p.e, &p.job
	for i := lo; i < hi; i++ {
		w.at = i
		if err := j.do(e, w, i, j); err != nil {
			w.fail(err)
			return
		}
	}
}

func (w *worker) fail(err error) {
	if w.err == nil { // chunks are taken in ascending order: the first error is the lowest
		w.err, w.errAt = err, w.at
	}
}
