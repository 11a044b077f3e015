// Package batch holds the games that a client opened together, the agents that play in them, and the memory to which
// their steps are written. It takes and returns Go values: it knows no connection and no session, and reads no request.
// Clients get its errors as they are.
package batch

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"unsafe"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/limits"
	"blockyard/rpc/session/recorder"
	"blockyard/rpc/wire"
)

// A Batch is the games that a client opened together. Only one goroutine at a time may use it.
type Batch struct {
	ID     uint32 // its number in the session, for errors
	Game   *env.Game
	Env    *vec.Env
	Config vec.Config
	Rows   int    // of all games together
	First  uint64 // the number of game 0 when games are split over several batches
	Log    bool   // the client logs the games, to replay them elsewhere

	Message []byte       // a response as it is sent: room for its head, then the slab of Own
	Own     *Place       // memory of the batch alone
	Slots   []*Place     // in memory shared with the client
	Layout  Layout       // of the slabs
	Actions []env.Action // of the step to come
	Ended   []int        // games that ended in the last step

	Opponents *Opponents
	Policy    *Policy            // plays rollouts; nil for random actions
	Recorder  *recorder.Recorder // nil if no episode is recorded
	Stream    *Stream            // nil before its first game is sent

	agents  *Agents
	tab     *limits.Tab
	ctx     context.Context
	seeds   vec.Seeds // of the first reset
	began   bool      // the games have been reset
	counted counted

	shared  [][]byte                  // memory shared with the client
	lent    map[unsafe.Pointer]uint32 // the slots in memory of this process, by address
	now     *Place                    // the place written last
	private private
	final   *vec.Batch

	packRow          func(worker, i int)
	packTo, packFrom []byte

	players    []player    // of afterstates, by worker
	asked      uint64      // seeds for afterstates so far
	candidates *candidates // nil if no slab describes them
}

// Options are how a batch differs from others with the same vec.Config.
type Options struct {
	ID     uint32
	Fields []string // of the slab; nil for all
	Packed bool     // boards with few bits per cell
	Log    bool
	First  uint64
	// Candidates are actions whose afterstates slabs describe; nil for none.
	Candidates *Candidates
	Seeds      vec.Seeds
	Seats      map[int][]Choice // the opponents of the seats that the client does not drive
	// Curriculum is over the opponents of all seats; nil for none.
	Curriculum *vec.Curriculum
}

// slabStart is the offset of the slab in a batch's memory; the head of the response ends there.
const slabStart = 64

// New opens games. What they take is on tab, which Close closes; after an error there is nothing on it.
func New(g *env.Game, c vec.Config, o Options, agents *Agents, tab *limits.Tab) (_ *Batch, err error) {
	defer func() {
		if err != nil {
			tab.Close()
		}
	}()
	b := &Batch{ID: o.ID, Game: g, First: o.First, Log: o.Log, agents: agents, tab: tab, ctx: c.Context, seeds: o.Seeds}
	if b.Opponents, err = newOpponents(b, &c, &o); err != nil {
		return nil, err
	}
	c.Mixtures, c.Curriculum = b.Opponents.mixtures, b.Opponents.curriculum
	if o.Log {
		if err := b.Opponents.repeatable("open"); err != nil {
			return nil, err
		}
	}
	use := limits.Use{Handles: 1, Envs: c.Envs, Memory: Estimate(g, &c, &o)}
	use.Goroutines = workers(&c) - 1 // the goroutine that steps is one of the workers
	if err := tab.Take(use); err != nil {
		return nil, err
	}
	if b.Env, err = vec.New(g, c); err != nil {
		return nil, badParams("open: %v", err)
	}
	b.Config = b.Env.Config()
	b.Rows = c.Envs * b.Env.Rows()
	if err = b.layOut(o.Fields, o.Packed, o.Candidates); err == nil {
		err = b.allocate()
	}
	if err != nil {
		return nil, errors.Join(err, b.Env.Close())
	}
	b.Actions = make([]env.Action, b.Rows)
	return b, nil
}

// workers is how many goroutines step the games of c.
func workers(c *vec.Config) int { return min(cmp.Or(c.Workers, runtime.GOMAXPROCS(0)), c.Envs) }

// Close ends all games and frees their memory.
func (b *Batch) Close() error {
	defer b.tab.Close()
	return errors.Join(b.Env.Close(), b.dropPolicy(), b.unshare())
}

// Memory returns the estimated bytes of the batch.
func (b *Batch) Memory() int64 { return b.tab.Memory() }

func (b *Batch) allocate() (err error) {
	b.final = &vec.Batch{}
	if b.Config.Autoreset == vec.SameStep {
		if b.final, err = b.Env.NewBatch(b.finalNames()...); err != nil {
			return err
		}
	}
	b.private.terminated, b.private.truncated = make([]uint8, b.Config.Envs), make([]uint8, b.Config.Envs)
	if b.Layout.bits.Name != "" {
		b.private.planes = make([]uint8, b.Rows*b.Game.Planes.Len())
	}
	memory := vec.Layout{Len: slabStart + b.Layout.length}.Alloc()
	b.Message = memory[slabStart-wire.HeadLen:]
	b.Own, err = b.place(memory[slabStart:])
	b.now = b.Own
	return err
}

// finalNames lists the slabs of the last observations of ended games.
func (b *Batch) finalNames() []string {
	names := []string{"final_planes", "final_globals", "final_legal", "final_seat"}
	if b.Env.Driven().Len() < b.Config.Seats {
		names = append(names, "final_opponent")
	}
	return names
}

// Driven lists the seats that the client plays.
func (b *Batch) Driven() []int {
	seats := []int{}
	for set := b.Env.Driven(); set != 0; set = set.Rest() {
		seats = append(seats, set.First())
	}
	return seats
}

// Awake returns an error if the games have not been reset.
func (b *Batch) Awake(method string) error {
	if b.began {
		return nil
	}
	return wire.Errorf(wire.NeedsReset, "%s: handle %d has not been reset", method, b.ID).With("envs", []int{int(b.First)})
}

// Estimated bytes of a batch without games, of each of its workers besides copies of positions and lists of actions,
// and of a slot besides the memory shared with the client.
const (
	batchMemory  = 16 << 10
	workerMemory = 8 << 10
	slotMemory   = 512
)

// Estimate returns the estimated bytes of the games of c, without their opponents.
func Estimate(g *env.Game, c *vec.Config, o *Options) int64 {
	driven := c.Driven()
	rows := int64(c.RowsOf(g))
	view := int64(g.Planes.Len() + 4*g.Globals() + 1)
	if c.Autoreset == vec.SameStep {
		view *= 2
	}
	if o.Packed {
		view += int64(g.PackedLen())
	}
	row := view + 2*int64(g.MaskLen()) + 3 + o.Candidates.size(g)
	agents := int64(c.Seats - driven.Len())
	state := int64(env.EncodedLen(g.New(c.Seats)))
	one := state + 256 + rows*row + int64(c.Seats)*28 + agents*agentMemory
	if o.Log {
		one += 2*vec.MovesLen + 4*int64(c.Seats)
	}
	worker := workerMemory + 4*state + view + 2*int64(g.MaxLegal)
	return int64(c.Envs)*one + batchMemory + int64(workers(c))*worker + int64(wire.SendLen(c.Envs, c.Envs*int(rows)))
}
