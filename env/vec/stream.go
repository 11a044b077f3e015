package vec

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"blockyard/env"
)

// A Stream steps environments of an Env one by one, in the background: Send begins steps of any
// environments, and Recv returns environments whose step is done, in the order in which they finished. A slow
// agent in one environment thus delays no other. What happens in an environment depends only on
// its seed and its actions, never on which others are stepped or in which order.
//
// An environment is idle until it is sent, in flight until Recv returns it, and then idle again. While an
// environment is in flight, its rows of the batch belong to the Stream. While any is, the only methods of Env that
// may be called are Each, State, Seat, Legal, Answer and the like, for idle environments, unless Settle was called
// before. An environment that Waits when it is received is sent once more after it was answered: its step goes on.
//
// A Stream is not safe for concurrent use. Its methods do not allocate.
type Stream struct {
	e       *Env
	job     job
	actions []env.Action // of every row
	away    []bool       // by environment: in flight
	stamp   []uint32     // by environment: the last Send that named it, to find duplicates
	sends   uint32
	workers int
	ended   sync.WaitGroup

	mu      sync.Mutex
	work    sync.Cond // for workers: todo has grown, or the Stream is stopped
	todo    ring
	done    ring
	running int // environments that have been sent and are not done
	least   int // Await waits for as many in done; 0 if it does not wait
	ready   chan struct{}
	stopped bool
	busy    time.Duration // of all workers together
	steps   uint64
	illegal uint64 // these two as Env.Counted
	asked   uint64
	err     error // of errAt, the lowest environment that failed
	errAt   int
}

// Stream starts the Stream of e, with as many goroutines as Step uses. It writes results to out, each
// environment to its own rows. Env.Close ends it. An Env has at most one.
func (e *Env) Stream(out *Batch) (*Stream, error) {
	switch {
	case e.broken != nil:
		return nil, e.broken
	case e.stream != nil:
		return nil, fmt.Errorf("vec %s: a second stream, want one per Env", e.g.Name)
	}
	if err := e.checkBatch(out); err != nil {
		return nil, err
	}
	n := len(e.slots)
	s := &Stream{e: e, actions: make([]env.Action, n*e.rows), away: make([]bool, n), stamp: make([]uint32, n),
		todo: newRing(n), done: newRing(n), ready: make(chan struct{}, 1), workers: len(e.pool.workers)}
	s.work.L = &s.mu
	s.job = job{actions: s.actions}
	s.job.write(out)
	for id := range s.workers {
		w := e.newWorker(id)
		s.ended.Go(func() { s.run(w) })
	}
	e.stream = s
	return s, nil
}

// stop waits for the steps being played, drops the others and ends the goroutines.
func (s *Stream) stop() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.stopped = true
	s.work.Broadcast()
	s.mu.Unlock()
	s.ended.Wait()
}

// Send begins a step of the environments in envs, with the actions of their rows: those of envs[k] are
// actions[k*Rows():(k+1)*Rows()]. It returns an error and begins nothing if an environment does not exist, is named
// twice or is in flight, and an *EnvError as Step does, with the environments in the order of envs.
func (s *Stream) Send(envs []uint32, actions []env.Action) error {
	e := s.e
	if err := e.ready(); err != nil {
		return err
	}
	if len(actions) != len(envs)*e.rows {
		return e.misuse("%d actions for %d environments, want %d each", len(actions), len(envs), e.rows)
	}
	s.sends++
	var r refusals
	for k, i := range envs {
		switch {
		case int(i) >= len(s.away):
			return e.misuse("environment %d of %d", i, len(s.away))
		case s.away[i]:
			return e.misuse("environment %d was sent before and has not been received since", i)
		case s.stamp[i] == s.sends:
			return e.misuse("environment %d is named twice", i)
		}
		s.stamp[i] = s.sends
		e.refuse(int(i), actions[k*e.rows:(k+1)*e.rows], &r)
	}
	if err := r.err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, i := range envs {
		s.away[i] = true
		copy(s.actions[int(i)*e.rows:], actions[k*e.rows:(k+1)*e.rows])
		s.todo.push(i)
	}
	s.running += len(envs)
	for range min(len(envs), s.workers) {
		s.work.Signal()
	}
	return nil
}

// ErrMisuse is wrapped by the errors of Send about the environments that it was given.
var ErrMisuse = errors.New("cannot be sent")

func (e *Env) misuse(format string, args ...any) error {
	return fmt.Errorf("vec %s: %w: %s", e.g.Name, ErrMisuse, fmt.Sprintf(format, args...))
}

// Await returns a channel that yields once so many environments are done or none is stepped. A later call replaces it.
func (s *Stream) Await(least int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ready:
	default:
	}
	s.least = max(1, least)
	s.tell()
	return s.ready
}

// tell yields to the channel of Await if what it waits for has come. The caller holds mu.
func (s *Stream) tell() {
	if s.least > 0 && (s.done.len >= s.least || s.running == 0) {
		s.least = 0
		s.ready <- struct{}{} // it is empty: Await emptied it, and least is set once for it
	}
}

// Recv appends at most most environments that are done to dst, in the order in which they finished, without
// waiting. It returns an error if a step failed, as Step does: no step is under way then, environments are half
// stepped, and all of them are idle.
func (s *Stream) Recv(dst []uint32, most int) ([]uint32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		s.mu.Unlock()
		s.Settle()
		s.mu.Lock()
		err := fmt.Errorf("vec %s: environment %d: %w", s.e.g.Name, s.errAt, s.err)
		s.e.broken = fmt.Errorf("%w; reset all environments to go on", err)
		s.clear()
		return dst, err
	}
	for n := min(most, s.done.len); n > 0; n-- {
		i := s.done.pop()
		s.away[i] = false
		dst = append(dst, i)
	}
	return dst, nil
}

// Settle waits until no environment is being stepped. Those that are done remain to be received.
func (s *Stream) Settle() {
	<-s.Await(len(s.away) + 1)
}

// Drop waits as Settle does, and makes all environments idle: what has not been received is lost.
func (s *Stream) Drop() {
	s.Settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

// clear makes all environments idle. The caller holds mu.
func (s *Stream) clear() {
	s.err, s.done.len, s.todo.len = nil, 0, 0
	clear(s.away)
}

// InFlight returns how many environments are in flight, and how many of these are done.
func (s *Stream) InFlight() (sent, done int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running + s.done.len, s.done.len
}

// Idle reports whether environment i is idle.
func (s *Stream) Idle(i int) bool { return !s.away[i] }

// Work returns the number of steps so far, the time that all goroutines together spent on them, and their number.
func (s *Stream) Work() (steps uint64, busy time.Duration, workers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps, s.busy, s.workers
}

// counted is Env.Counted of the Stream's steps.
func (s *Stream) counted() (illegal, asked uint64) {
	if s == nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.illegal, s.asked
}

// run steps environments until the Stream is stopped.
func (s *Stream) run(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for s.todo.len == 0 && !s.stopped {
			s.work.Wait()
		}
		if s.stopped {
			return
		}
		i := s.todo.pop()
		s.mu.Unlock()
		begun := time.Now()
		err := s.step(w, int(i))
		took := time.Since(begun)
		s.mu.Lock()
		s.busy += took
		s.steps++
		s.illegal += w.illegal
		s.asked += w.asked
		w.illegal, w.asked = 0, 0
		s.running--
		s.done.push(i)
		if err != nil {
			if s.err == nil || int(i) < s.errAt {
				s.err, s.errAt = err, int(i)
			}
			s.running -= s.todo.len
			s.todo.len = 0
		}
		s.tell()
	}
}

// step steps environment i. Send has accepted its actions.
func (s *Stream) step(w *worker, i int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{r, debug.Stack()}
		}
	}()
	return s.e.step(w, i, &s.job)
}

// A ring is a queue of environments, which never holds one twice.
type ring struct {
	at    []uint32
	first int
	len   int
}

func newRing(n int) ring { return ring{at: make([]uint32, n)} }

func (r *ring) push(i uint32) {
	k := r.first + r.len
	if k >= len(r.at) {
		k -= len(r.at)
	}
	r.at[k] = i
	r.len++
}

func (r *ring) pop() uint32 {
	i := r.at[r.first]
	if r.first++; r.first == len(r.at) {
		r.first = 0
	}
	r.len--
	return i
}
