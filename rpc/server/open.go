package server

import (
	"cmp"
	"encoding/binary"
	"math"
	"runtime"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server/limits"
	"blockyard/rpc/wire"
)

// openOptions are the named arguments of open.
type openOptions struct {
	NumEnvs   int64         `msgpack:"num_envs"`
	Seats     int64         `msgpack:"seats"`
	Opponents map[int64]any `msgpack:"opponents"`
	Rows      vec.RowForm   `msgpack:"rows"`
	Autoreset vec.Autoreset `msgpack:"autoreset"`
	Reward    vec.Reward    `msgpack:"reward"`
	MaxSteps  int64         `msgpack:"max_episode_steps"`
	Illegal   vec.Illegal   `msgpack:"illegal"`
	Fields    []string      `msgpack:"fields"`
	Seed      wire.Natural  `msgpack:"seed"`
	Seeds     []byte        `msgpack:"seeds"`
	Packed    bool          `msgpack:"packed"`
	First     wire.Natural  `msgpack:"first"`
	Log       bool          `msgpack:"log"`
}

func (s *session) open(f *wire.Frame) error {
	g, err := s.gameParam(f)
	if err != nil {
		return err
	}
	o := openOptions{NumEnvs: 1}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	c, err := o.config(g)
	if err != nil {
		return err
	}
	if most := s.srv.limits.MaxHandles; len(s.handles) >= most {
		return wire.Exceeds("max_handles", int64(most), int64(most+1), "--max-handles")
	}
	if most := s.srv.limits.MaxEnvs; c.Envs > most {
		return wire.Exceeds("max_envs", int64(most), int64(c.Envs), "--max-envs")
	}
	seeds, err := o.seeds()
	if err != nil {
		return err
	}
	opponents, err := s.opponentsOf(g, &c, o.Opponents)
	if err != nil {
		return err
	}
	c.Mixtures = opponents.mixtures
	memory := estimate(g, &c, &o, s.srv.workers(&c))
	if o.Log {
		err = opponents.repeatable("open")
	}
	if err == nil {
		err = s.account(1, c.Envs, memory)
	}
	if err != nil {
		s.account(0, 0, -opponents.memory)
		return err
	}
	memory += opponents.memory
	c.Workers, c.Context = s.srv.c.Workers, s.ctx
	// The goroutine that answers is one of the workers.
	need := limits.Use{Goroutines: s.srv.workers(&c) - 1}
	h, err := (*handle)(nil), s.srv.ledger.Take(need)
	if err == nil {
		if h, err = newHandle(g, c, &o); err != nil {
			s.srv.ledger.Give(need)
		}
	}
	if err != nil {
		s.account(-1, -c.Envs, -memory)
		return err
	}
	h.use = need
	s.next++
	h.id, h.seeds, h.memory, h.first, h.opponents = s.next, seeds, memory, uint64(o.First), opponents
	h.took, h.alone = quickStep, len(o.Opponents) == 0 // until it is known
	h.session = s.id
	s.handles[h.id] = h
	s.srv.register(h, s.token)
	s.sizeSteps()
	if err := s.reply(f.ID, h.facts()); err != nil {
		s.closeHandle(h.id)
		return err
	}
	return nil
}

// workers is how many goroutines step the games of c.
func (s *Server) workers(c *vec.Config) int {
	return min(cmp.Or(s.c.Workers, runtime.GOMAXPROCS(0)), c.Envs)
}

// config converts the options to a vec.Config without agents.
func (o *openOptions) config(g *env.Game) (c vec.Config, err error) {
	bad := func(what string, v int64, low, high int) error {
		return wire.Errorf(wire.BadParams, "open: %s is %d, want %d to %d", what, v, low, high)
	}
	switch {
	case o.NumEnvs < 1 || o.NumEnvs > vec.MaxEnvs:
		return c, bad("num_envs", o.NumEnvs, 1, vec.MaxEnvs)
	case o.Seats != 0 && (o.Seats < int64(g.MinSeats) || o.Seats > int64(g.MaxSeats)):
		return c, bad("seats", o.Seats, g.MinSeats, g.MaxSeats)
	case o.MaxSteps < 0 || o.MaxSteps > math.MaxInt32:
		return c, bad("max_episode_steps", o.MaxSteps, 0, math.MaxInt32)
	}
	return vec.Config{Envs: int(o.NumEnvs), Seats: cmp.Or(int(o.Seats), g.MinSeats), Rows: o.Rows,
		Autoreset: o.Autoreset, StepLimit: int(o.MaxSteps), Reward: o.Reward, Illegal: o.Illegal}, nil
}

// seeds returns the seeds of the first reset.
func (o *openOptions) seeds() (vec.Seeds, error) {
	if o.Seeds == nil {
		return vec.From(uint64(o.Seed + o.First)), nil
	}
	return seedList("open", o.Seeds, int(o.NumEnvs))
}

// seedList reads one 64-bit seed per game.
func seedList(method string, b []byte, envs int) (vec.Seeds, error) {
	if len(b) != 8*envs {
		return vec.Seeds{}, wire.Errorf(wire.BadParams, "%s: seeds has %d bytes, want %d: 8 for each of the %d games",
			method, len(b), 8*envs, envs)
	}
	list := make([]uint64, envs)
	for i := range list {
		list[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return vec.List(list), nil
}

// Estimated bytes of a handle without games, of each of its workers besides copies of positions and lists of actions,
// and of a slot besides the memory shared with the client.
const (
	handleMemory = 16 << 10
	workerMemory = 8 << 10
	slotMemory   = 512
)

// estimate is the estimated size of a handle with the games of c, in bytes.
func estimate(g *env.Game, c *vec.Config, o *openOptions, workers int) int64 {
	driven := c.Driven()
	rows := int64(c.RowsOf(g))
	view := int64(g.Planes.Len() + 4*g.Globals() + 1)
	if c.Autoreset == vec.SameStep {
		view *= 2
	}
	if o.Packed {
		view += int64(g.PackedLen())
	}
	row := view + 2*int64(g.MaskLen()) + 3
	agents := int64(c.Seats - driven.Len())
	state := int64(env.EncodedLen(g.New(c.Seats)))
	one := state + 256 + rows*row + int64(c.Seats)*28 + agents*agentMemory
	if o.Log {
		one += 2*vec.MovesLen + 4*int64(c.Seats)
	}
	worker := workerMemory + 4*state + view + 2*int64(g.MaxLegal)
	return int64(c.Envs)*one + handleMemory + int64(workers)*worker + int64(wire.SendLen(c.Envs, c.Envs*int(rows)))
}
