package server

import (
	"errors"
	"sync/atomic"
	"time"
	"unsafe"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/games"
	"blockyard/rpc/server/limits"
	"blockyard/rpc/wire"
)

// A handle is the games that a client opened together. Only the answering goroutine of its session
// uses it.
type handle struct {
	id     uint32
	game   *env.Game
	env    *vec.Env
	c      vec.Config
	rows   int // of all games together
	memory int64
	use    limits.Use
	layout layout
	seeds  vec.Seeds // of the first reset
	first  uint64    // the number of game 0 when games are split over several handles
	began  bool      // the games have been reset
	logs   bool      // the client logs the games, to replay them elsewhere

	message   []byte // a response as it is sent: the head, then the slab of own
	own       *place
	slots     []*place                  // in memory shared with the client
	shared    [][]byte                  // that memory
	lent      map[unsafe.Pointer]uint32 // the slots in memory of a client in this process, by address
	now       *place                    // the place written last
	private   private
	final     *vec.Batch
	pushes    bool // the last observations of games follow the step that ended them
	actions   []env.Action
	policy    *policy // plays rollouts; nil for random actions
	opponents *lineup

	stream *stream // nil before the first send or recv

	recorder *games.Recorder // nil if no episode is recorded

	session uint64                  // number of the session that opened it
	glance  atomic.Pointer[glances] // games to copy after the next request; nil for none
	glanced atomic.Pointer[glances] // the last copies; nil if nobody has watched

	alone bool          // the server plays no seat
	took  time.Duration // duration of the last step

	packRow          func(worker, i int)
	packTo, packFrom []byte

	illegal   uint64      // illegal actions so far
	decisions uint64      // of opponents so far
	ended     []int       // games that ended in the last step
	scratch   []env.State // for afterstates, by worker
	asked     uint64      // afterstates and features requests so far: seeds that the client leaves out
}

// slabStart is the offset of the slab in a handle's memory; the head of the response ends there.
const slabStart = 64

func newHandle(g *env.Game, c vec.Config, o *openOptions) (*handle, error) {
	e, err := vec.New(g, c)
	if err != nil {
		return nil, wire.Errorf(wire.BadParams, "open: %v", err)
	}
	h := &handle{game: g, env: e, c: e.Config(), rows: c.Envs * e.Rows(), logs: o.Log}
	if err = h.layOut(o.Fields, o.Packed); err == nil {
		err = h.allocate()
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	h.actions = make([]env.Action, h.rows)
	return h, nil
}

// allocate allocates the slab and the private memory.
func (h *handle) allocate() (err error) {
	h.final = &vec.Batch{}
	if h.c.Autoreset == vec.SameStep {
		if h.final, err = h.env.NewBatch(h.finalNames()...); err != nil {
			return err
		}
	}
	h.private.terminated, h.private.truncated = make([]uint8, h.c.Envs), make([]uint8, h.c.Envs)
	if h.layout.bits.Name != "" {
		h.private.planes = make([]uint8, h.rows*h.game.Planes.Len())
	}
	memory := vec.Layout{Len: slabStart + h.layout.length}.Alloc()
	h.message = memory[slabStart-wire.HeadLen:]
	h.own, err = h.place(memory[slabStart:])
	h.now = h.own
	return err
}

// finalNames lists the slabs of the last observations of ended games.
func (h *handle) finalNames() []string {
	names := []string{"final_planes", "final_globals", "final_legal", "final_seat"}
	if h.env.Driven().Len() < h.c.Seats {
		names = append(names, "final_opponent")
	}
	return names
}

// facts is the result of open.
func (h *handle) facts() wire.Fields {
	return wire.Fields{
		"h", h.id, "game", h.game.Name, "num_envs", h.c.Envs, "seats", h.c.Seats, "players", h.drivenSeats(),
		"rows_per_env", h.env.Rows(), "rows", h.rows, "layout", h.layout.announce(), "slab_len", len(h.own.slab),
		"reply_len", len(h.message), "state_len", h.stateLen(), "memory", h.memory, "opponents", h.opponents.specs(0),
	}
}

func (h *handle) drivenSeats() []int {
	players := []int{}
	for set := h.env.Driven(); set != 0; set = set.Rest() {
		players = append(players, set.First())
	}
	return players
}

// closeHandle closes a handle and frees its memory.
func (s *session) closeHandle(id uint32) {
	h := s.handles[id]
	delete(s.handles, id)
	s.srv.unregister(h)
	if err := errors.Join(h.env.Close(), s.dropPolicy(h), h.unshare()); err != nil {
		s.srv.log.Warn("close", "session", s.id, "handle", id, "err", err)
	}
	s.sizeSteps()
	s.account(-1, -h.c.Envs, -h.memory)
	s.srv.ledger.Give(h.use)
}

// refusal converts an error of a method into an error for the client. Those of package vec that blame
// no action are failures of agents.
func refusal(method []byte, err error) *wire.Error {
	var known *wire.Error
	if errors.As(err, &known) {
		return known
	}
	var blamed *vec.EnvError
	if !errors.As(err, &blamed) {
		return wire.Errorf(wire.Opponent, "%s: %v", method, err)
	}
	envs := blamed.Envs[:min(len(blamed.Envs), mostNamed)]
	if errors.Is(err, vec.ErrNeedsReset) {
		return wire.Errorf(wire.NeedsReset, "%s: %v", method, err).With("envs", envs)
	}
	return wire.Errorf(wire.Illegal, "%s: %v", method, err).With("envs", envs).
		With("row", blamed.Row).With("seat", blamed.Seat).With("action", int(blamed.Action))
}

// refused is refusal under another name of the method, except that it leaves a panic as it is, for the log.
func refused(method string, err error) error {
	if errors.As(err, new(*vec.PanicError)) {
		return err
	}
	return refusal([]byte(method), err)
}

// mostNamed is the largest number of games that an error lists.
const mostNamed = 64
