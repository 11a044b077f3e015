package vec

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"blockyard/env"
)

// A crew is the goroutines that do a job on every environment, a chunk at a time. The
// caller of run is one of them.
type crew struct {
	e       *Env
	job     job
	workers []*worker
	chunk   int          // environments taken at once
	next    atomic.Int64 // first environment nobody has taken
	wake    []chan struct{}
	done    sync.WaitGroup
	ended   sync.WaitGroup
}

// A worker is what one goroutine needs to itself.
type worker struct {
	id    int
	legal []env.Action
	view  env.State // what an agent is shown
	// where a view goes whose slab is not wanted
	planes  []uint8
	globals []float32
	at      int   // the environment in hand
	err     error // of the lowest environment that failed
	errAt   int
}

type op uint8

const (
	opStep op = iota
	opReset
	opObserve
	opSample
	opEach
)

type job struct {
	op      op
	actions []env.Action
	seeds   Seeds
	mask    []bool
	out     *Batch
	each    func(worker, i int)
}

func (c *crew) start(e *Env, workers int) {
	c.e = e
	workers = min(workers, len(e.slots))
	c.chunk = max(1, min(64, len(e.slots)/(4*workers)))
	for id := range workers {
		c.workers = append(c.workers, &worker{id: id, legal: make([]env.Action, 0, e.g.MaxLegal), view: e.g.New(e.c.Seats),
			planes: make([]uint8, e.planes), globals: make([]float32, e.g.Globals())})
		if id == 0 {
			continue
		}
		wake := make(chan struct{}, 1)
		c.wake = append(c.wake, wake)
		c.ended.Add(1)
		go c.loop(c.workers[id], wake)
	}
}

func (c *crew) loop(w *worker, wake chan struct{}) {
	defer c.ended.Done()
	for range wake {
		c.drain(w)
		c.done.Done()
	}
}

func (c *crew) stop() {
	for _, wake := range c.wake {
		close(wake)
	}
	c.wake = nil
	c.ended.Wait()
}

// run does the job on every environment and returns the error of the lowest that failed.
func (c *crew) run(j job) error {
	c.job = j
	c.next.Store(0)
	chunks := (len(c.e.slots) + c.chunk - 1) / c.chunk
	extra := min(len(c.wake), chunks-1)
	c.done.Add(extra)
	for _, wake := range c.wake[:extra] {
		wake <- struct{}{}
	}
	c.drain(c.workers[0])
	c.done.Wait()
	c.job = job{}
	return c.verdict(j.op)
}

func (c *crew) verdict(o op) error {
	var first *worker
	for _, w := range c.workers {
		if w.err != nil && (first == nil || w.errAt < first.errAt) {
			first = w
		}
	}
	if first == nil {
		return nil
	}
	err := fmt.Errorf("vec %s: environment %d: %w", c.e.g.Name, first.errAt, first.err)
	for _, w := range c.workers {
		w.err = nil
	}
	if o == opStep || o == opReset {
		c.e.broken = fmt.Errorf("%w; reset all environments to go on", err)
	}
	return err
}

// drain takes chunks until none are left.
func (c *crew) drain(w *worker) {
	for {
		hi := int(c.next.Add(int64(c.chunk)))
		lo := hi - c.chunk
		if lo >= len(c.e.slots) {
			return
		}
		c.do(w, lo, min(hi, len(c.e.slots)))
	}
}

// do does the job on environments lo … hi-1, stopping at the first that fails.
func (c *crew) do(w *worker, lo, hi int) {
	defer func() {
		if p := recover(); p != nil {
			w.fail(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	for i := lo; i < hi; i++ {
		w.at = i
		if err := c.one(w, i); err != nil {
			w.fail(err)
			return
		}
	}
}

func (w *worker) fail(err error) {
	if w.err == nil { // chunks are taken in order: the first is the lowest
		w.err, w.errAt = err, w.at
	}
}

func (c *crew) one(w *worker, i int) error {
	e, j := c.e, &c.job
	switch j.op {
	case opStep:
		if e.alone {
			return e.stepAlone(w, i, j)
		}
		return e.step(w, i, j)
	case opReset:
		sl := &e.slots[i]
		if j.mask == nil || j.mask[i] {
			sl.reset(&j.seeds, i)
			if err := e.begin(w, i); err != nil {
				return err
			}
		}
		e.observe(w, i, j.out)
	case opObserve:
		e.observe(w, i, j.out)
	case opSample:
		e.sample(i, j.actions)
	case opEach:
		j.each(w.id, i)
	}
	return nil
}
