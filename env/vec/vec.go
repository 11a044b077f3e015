package vec

import (
	"errors"
	"fmt"

	"blockyard/env"
)

// An Env is many games in progress. It is not safe for concurrent use; the games inside
// are stepped by several goroutines, which Close ends.
type Env struct {
	g       *env.Game
	c       Config
	driven  env.Seats
	rows    int
	stride  int          // bytes from one row's mask to the next
	sizes   []int        // elements of each slab, in the order of slabs
	planes  int          // bytes of one row's planes
	globals int          // numbers of the rest of it
	alone   bool         // one seat, which is driven
	maskers []env.Masker // the states as such; nil if they are none
	states  []env.State
	slots   []slot
	masks   []byte      // what every row may play, [rows, stride]
	agents  []env.Agent // [envs, seats]; nil where driven
	crew    crew
	broken  error // a step that failed half-way; only a Reset of all mends it
}

// New makes the environments and starts the goroutines that step them. They must be
// Reset before the first Step.
func New(g *env.Game, c Config) (*Env, error) {
	c, err := c.check(g)
	if err != nil {
		return nil, err
	}
	e := &Env{g: g, c: c, driven: c.driven(), planes: g.Planes.Len(), stride: (g.MaskLen() + 7) &^ 7}
	e.rows = min(g.Rows, e.driven.Len())
	e.globals, e.alone = g.Globals(), c.Seats == 1
	for _, s := range slabs {
		e.sizes = append(e.sizes, product(s.shape(g, c.Envs, e.rows, c.Seats)))
	}
	e.states = make([]env.State, c.Envs)
	for i := range e.states {
		e.states[i] = g.New(c.Seats)
	}
	if _, ok := e.states[0].(env.Masker); ok {
		e.maskers = make([]env.Masker, c.Envs)
		for i, s := range e.states {
			e.maskers[i] = s.(env.Masker) // once, not every step
		}
	}
	e.slots = make([]slot, c.Envs)
	for i := range e.slots {
		e.slots[i].seats = emptyRows
	}
	e.masks = make([]byte, c.Envs*e.rows*e.stride)
	e.agents = make([]env.Agent, c.Envs*c.Seats)
	e.crew.start(e, c.Workers)
	return e, nil
}

// Close ends the goroutines and the agents. The Env cannot be used afterwards.
func (e *Env) Close() error {
	e.crew.stop()
	var errs []error
	for _, a := range e.agents {
		errs = append(errs, closeAgent(a))
	}
	e.agents, e.broken = nil, errClosed
	return errors.Join(errs...)
}

var errClosed = errors.New("vec: the Env is closed")

// Game returns the game that is played.
func (e *Env) Game() *env.Game { return e.g }

// Config returns the configuration with its defaults filled in.
func (e *Env) Config() Config { return e.c }

// Rows returns the rows of one environment.
func (e *Env) Rows() int { return e.rows }

// Driven returns the seats that the caller plays.
func (e *Env) Driven() env.Seats { return e.driven }

// Reset starts a new episode in the environments that mask selects (nil: all), seeded by
// seeds, and writes the observation of every environment to out, with reward 0; the
// flags are those of the environments left alone. It refuses, changing nothing, a mask
// or seeds of another length than Envs, or a mask that selects nothing.
func (e *Env) Reset(seeds Seeds, mask []bool, out *Batch) error {
	if err := e.checkReset(seeds, mask, out); err != nil {
		return err
	}
	e.broken = nil
	return e.crew.run(job{op: opReset, seeds: seeds, mask: mask, out: out})
}

func (e *Env) checkReset(seeds Seeds, mask []bool, out *Batch) error {
	if e.broken != nil && (mask != nil || errors.Is(e.broken, errClosed)) {
		return e.broken
	}
	if err := seeds.check(e.c.Envs); err != nil {
		return fmt.Errorf("vec %s: %w", e.g.Name, err)
	}
	if mask != nil {
		some := false
		for _, m := range mask {
			some = some || m
		}
		if len(mask) != e.c.Envs || !some {
			return fmt.Errorf("vec %s: reset mask of %d, want %d with one true at least", e.g.Name, len(mask), e.c.Envs)
		}
	}
	return e.checkBatch(out)
}

// Step plays actions, one per row, in every environment, and writes what follows to out.
// It refuses, changing nothing, with an *EnvError naming the environments, an action that
// is neither legal nor None (under Refuse), or an environment that needs a reset. An
// agent that fails, or answers with an illegal action, is an error that leaves games half
// stepped: only a Reset of all environments goes on from there. A step allocates nothing
// unless agents do.
func (e *Env) Step(actions []env.Action, out *Batch) error {
	if e.broken != nil {
		return e.broken
	}
	if len(actions) != len(e.slots)*e.rows {
		return fmt.Errorf("vec %s: %d actions, want %d", e.g.Name, len(actions), len(e.slots)*e.rows)
	}
	if err := e.checkBatch(out); err != nil {
		return err
	}
	if err := e.refuse(actions); err != nil {
		return err
	}
	return e.crew.run(job{op: opStep, actions: actions, out: out})
}

// Observe writes to out every environment as it stands: the current flags, reward 0.
func (e *Env) Observe(out *Batch) error {
	if e.broken != nil {
		return e.broken
	}
	if err := e.checkBatch(out); err != nil {
		return err
	}
	return e.crew.run(job{op: opObserve, out: out})
}

// Each calls do once for every environment, from several goroutines at once, and returns
// when all are done. do may read the environment (State, Legal) and nothing else of e.
// worker is below Config.Workers and belongs to one goroutine at a time.
func (e *Env) Each(do func(worker, i int)) error {
	if e.broken != nil {
		return e.broken
	}
	return e.crew.run(job{op: opEach, each: do})
}
