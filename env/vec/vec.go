package vec

import (
	"errors"
	"fmt"
	"slices"

	"blockyard/env"
)

// An Env is a vector of environments, each a game in progress. It is not safe for concurrent
// use. Its own goroutines step the environments in parallel; Close ends them.
type Env struct {
	g          *env.Game
	c          Config
	driven     env.Seats
	rows       int
	players    []uint8      // under SeatRows: the seat of each row
	stride     int          // bytes from one row's mask to the next
	sizes      []int        // elements of each slab, in the order of slabs
	planes     int          // bytes of one row's planes
	globals    int          // globals of one row
	maskLen    int          // Game.MaskLen
	potential  []term       // of RewardShaped
	maskers    []env.Masker // the states as Maskers; nil if the game has none
	states     []env.State
	slots      []slot
	masks      []byte      // legal actions of every row, [Envs*rows, stride]
	agents     []env.Agent // [envs, seats]; nil where driven or asked
	playing    []*Choice   // [envs, seats]: the opponents; nil where driven, and before the first episode
	asks       bool        // some choice asks the caller, or did
	held       []held      // by environment; nil unless asks
	askedMasks []byte      // [envs, seats, stride]: see AskedMask; nil unless asks
	pools      [env.MaxSeats]seatPool
	curriculum *Curriculum       // nil if there is none
	places     []Place           // by environment, in the curriculum
	tallies    [][]OpponentTally // by environment
	counted    int               // opponents have a Choice.ID below it
	pool       pool
	stream     *Stream // nil if there is none
	tracer     Tracer
	spare      env.State // for fits
	fresh      []byte    // a new state as encodeReset leaves it
	buf        []byte    // for fits
	broken     error     // a step failed half-way: only a Reset of all environments is possible
}

// New creates the environments and starts the goroutines that step them. Call Reset first, and Close at the end.
func New(g *env.Game, c Config) (*Env, error) {
	c, err := c.check(g)
	if err != nil {
		return nil, err
	}
	e := &Env{g: g, c: c, driven: c.Driven(), planes: g.Planes.Len(), globals: g.Globals(), maskLen: g.MaskLen()}
	e.rows, e.stride = c.RowsOf(g), align(e.maskLen, 8)
	for set := e.driven; set != 0 && c.Rows == SeatRows; set = set.Rest() {
		e.players = append(e.players, uint8(set.First()))
	}
	for _, t := range g.Potential {
		e.potential = append(e.potential, term{slices.Index(g.GlobalNames, t.Global), t.Weight})
	}
	for _, s := range slabs {
		e.sizes = append(e.sizes, product(s.shape(g, c.Envs, e.rows, c.Seats)))
	}
	e.states = make([]env.State, c.Envs)
	e.newStates()
	e.spare = g.New(c.Seats)
	if e.fresh, err = encodeReset(nil, e.spare); err != nil {
		return nil, err
	}
	e.slots, e.tallies = slices.Repeat([]slot{{seats: emptyRows}}, c.Envs), make([][]OpponentTally, c.Envs)
	if e.others() != 0 { // the first opponent has room
		room := make([]OpponentTally, c.Envs)
		for i := range e.tallies {
			e.tallies[i] = room[i : i : i+1]
		}
	}
	e.masks = make([]byte, c.Envs*e.rows*e.stride)
	e.agents, e.playing = make([]env.Agent, c.Envs*c.Seats), make([]*Choice, c.Envs*c.Seats)
	e.setMixtures(c.Mixtures, c.Curriculum)
	e.pool.start(e, c.Workers)
	return e, nil
}

// newStates creates the positions.
func (e *Env) newStates() {
	for i := range e.states {
		e.states[i] = e.g.New(e.c.Seats)
	}
	if _, ok := e.states[0].(env.Masker); ok {
		e.maskers = make([]env.Masker, len(e.states))
		for i, s := range e.states {
			e.maskers[i] = s.(env.Masker) // once, not every step
		}
	}
}

// Close ends the goroutines and closes the agents. The Env cannot be used afterwards.
func (e *Env) Close() error {
	e.stream.stop()
	e.pool.stop()
	err := CloseAgents(e.agents)
	e.broken = errClosed
	return err
}

var errClosed = errors.New("vec: the Env is closed")

// stopped returns an error if the context has ended.
func (e *Env) stopped() error {
	if err := e.c.Context.Err(); err != nil {
		return fmt.Errorf("vec %s: %w", e.g.Name, err)
	}
	return nil
}

// ready returns an error if no environment can be used now.
func (e *Env) ready() error {
	if e.broken != nil {
		return e.broken
	}
	return e.stopped()
}

// Game, Config, Rows and Driven return the game, the configuration with its defaults, the number of rows per
// environment, and the seats for which the caller chooses actions.
func (e *Env) Game() *env.Game   { return e.g }
func (e *Env) Config() Config    { return e.c }
func (e *Env) Rows() int         { return e.rows }
func (e *Env) Driven() env.Seats { return e.driven }

// Counted returns how many illegal actions have been replaced, and how many choices agents have made.
func (e *Env) Counted() (illegal, decisions uint64) {
	illegal, decisions = e.stream.counted()
	for _, w := range e.pool.workers {
		illegal, decisions = illegal+w.illegal, decisions+w.asked
	}
	return illegal, decisions
}

// Reset starts a new episode in the environments that mask selects (nil selects all), seeded by seeds. It writes the
// observations of all environments to out, with reward 0; the environments that were not selected keep their flags.
// It returns an error and changes nothing if mask or seeds do not have Envs elements, or mask selects no environment.
func (e *Env) Reset(seeds Seeds, mask []bool, out *Batch) error {
	switch {
	case e.broken != nil && (mask != nil || errors.Is(e.broken, errClosed)):
		return e.broken
	case seeds.list != nil && len(seeds.list) != e.c.Envs:
		return fmt.Errorf("vec %s: %d seeds for %d environments, want one each", e.g.Name, len(seeds.list), e.c.Envs)
	case mask != nil && (len(mask) != e.c.Envs || !slices.Contains(mask, true)):
		return fmt.Errorf("vec %s: reset mask of %d, want %d with at least one true", e.g.Name, len(mask), e.c.Envs)
	}
	if err := errors.Join(e.stopped(), e.checkBatch(out)); err != nil {
		return err
	}
	if e.broken != nil {
		e.newStates() // nobody knows what the failure has left of the old ones
	}
	e.broken = nil
	return e.pool.run(job{do: (*Env).reset, changes: true, seeds: seeds, mask: mask, out: out})
}

func (e *Env) reset(w *worker, i int, j *job) error {
	if j.mask == nil || j.mask[i] {
		e.slots[i].reset(&j.seeds, i)
		if err := e.begin(w, i); err != nil {
			return err
		}
	}
	return e.observe(w, i, j)
}

// Step plays actions, one per row, in every environment and writes the results to out.
//
// It returns an *EnvError that names the environments, and changes nothing, if an action is neither
// legal nor None (under Refuse) or an environment needs a reset. It returns another error if an
// agent fails or answers with an illegal action: environments are then half stepped, and only a
// Reset of all of them is possible. Step does not allocate unless agents do.
//
// A step may come to a position where only asked seats act. The environment Waits then, with its rows as they are, and
// its reward and flags still to come. Answer it and call Step again until none waits: such calls ignore their actions.
// This is also so after Reset and after what changes positions.
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
	var r refusals
	do, waiting := (*Env).step, e.waiting()
	if waiting {
		do = (*Env).goOn
	}
	for i := range e.slots {
		if waiting && !e.Waits(i) {
			continue
		}
		e.refuse(i, actions[i*e.rows:(i+1)*e.rows], &r)
	}
	if err := r.err(); err != nil {
		return err
	}
	return e.pool.run(job{do: do, changes: true, actions: actions, out: out})
}

// Observe writes the current observations and flags of every environment to out, with reward 0.
func (e *Env) Observe(out *Batch) error {
	if err := e.checkBatch(out); err != nil {
		return err
	}
	return e.pool.run(job{do: (*Env).observe, out: out})
}

// Each calls do once for every environment, from several goroutines at once, and returns when
// all calls have returned. do may read its environment (State, Legal) and nothing else of e.
// worker is below Config.Workers, and no two calls with the same worker run at once.
func (e *Env) Each(do func(worker, i int)) error {
	return e.pool.run(job{do: (*Env).each, each: do})
}

func (e *Env) each(w *worker, i int, j *job) error {
	j.each(w.id, i)
	return nil
}

// ErrNeedsReset is wrapped by the error about environments that were not reset or, under Disabled, have ended.
var ErrNeedsReset = errors.New("needs a reset")

// ErrAsked is wrapped by the error about environments with seats whose actions the caller is asked for.
var ErrAsked = errors.New("has seats that are asked: answer first")

// An EnvError says which environments a step was refused for. It wraps env.ErrIllegal, ErrNeedsReset or ErrAsked.
type EnvError struct {
	Envs   []int      // the environments at fault, in ascending order, each once
	Row    int        // for an illegal action: row of the first of them
	Seat   int        // for an illegal action: seat in that row
	Action env.Action // for an illegal action: the action
	Err    error
	text   string
}

func (e *EnvError) Error() string {
	if more := len(e.Envs) - 1; more > 0 {
		return fmt.Sprintf("%s (and %d more environments)", e.text, more)
	}
	return e.text
}

func (e *EnvError) Unwrap() error { return e.Err }

func (e *EnvError) blame(i int) {
	if n := len(e.Envs); n == 0 || e.Envs[n-1] != i {
		e.Envs = append(e.Envs, i)
	}
}

// refusals says why a step must not be taken.
type refusals struct{ needs, asked, illegal *EnvError }

// err returns the error of the step, nil if there is none.
func (r *refusals) err() error {
	for _, e := range [...]*EnvError{r.needs, r.asked, r.illegal} {
		if e != nil {
			return e
		}
	}
	return nil
}

// refuse adds to r why environment i must not be stepped with the actions of its rows.
func (e *Env) refuse(i int, actions []env.Action, r *refusals) {
	sl := &e.slots[i]
	if !sl.live || sl.ended() && e.c.Autoreset == Disabled {
		e.blame(&r.needs, i, ErrNeedsReset)
		return
	}
	if sl.asked != 0 && !sl.ended() {
		e.blame(&r.asked, i, ErrAsked)
		return
	}
	if sl.ended() || e.c.Illegal != Refuse {
		return
	}
	for k, a := range actions {
		if sl.seats[k] == NoSeat || a == env.None || e.allows(i*e.rows+k, a) {
			continue
		}
		if r.illegal == nil {
			r.illegal = e.illegal(i, k, int(sl.seats[k]), a, fmt.Sprintf("row %d, seat", k))
		}
		r.illegal.blame(i)
	}
}

// blame blames environment i, which needs something before it can be stepped, in an error that it makes for the first.
func (e *Env) blame(in **EnvError, i int, what error) {
	if *in == nil {
		*in = &EnvError{Err: what, text: fmt.Sprintf("vec %s: environment %d: %v", e.g.Name, i, what)}
	}
	(*in).blame(i)
}

// illegal is the error about an action of environment i; who says of which seat.
func (e *Env) illegal(i, row, seat int, a env.Action, who string) *EnvError {
	what := fmt.Sprintf("%d of %d actions", a, e.g.Actions)
	if int(a) < e.g.Actions {
		what = fmt.Sprintf("%d (%s)", a, e.g.Text(a))
	}
	return &EnvError{Row: row, Seat: seat, Action: a, Err: env.ErrIllegal, text: fmt.Sprintf(
		"vec %s: environment %d, %s %d: %v: %s", e.g.Name, i, who, seat, env.ErrIllegal, what)}
}
