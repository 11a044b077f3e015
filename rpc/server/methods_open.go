package server

import (
	"cmp"
	"errors"
	"math"
	"net"

	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/session/batch"
	"blockyard/rpc/session/memory"
	"blockyard/rpc/wire"
)

// openOptions are the named arguments of open.
type openOptions struct {
	NumEnvs    int64           `msgpack:"num_envs"`
	Seats      int64           `msgpack:"seats"`
	Opponents  map[int64]any   `msgpack:"opponents"`
	Curriculum *vec.Curriculum `msgpack:"curriculum"`
	Rows       vec.RowForm     `msgpack:"rows"`
	Autoreset  vec.Autoreset   `msgpack:"autoreset"`
	Reward     vec.Reward      `msgpack:"reward"`
	MaxSteps   int64           `msgpack:"max_episode_steps"`
	Illegal    vec.Illegal     `msgpack:"illegal"`
	Fields     []string        `msgpack:"fields"`
	Seed       wire.Natural    `msgpack:"seed"`
	Seeds      []byte          `msgpack:"seeds"`
	Packed     bool            `msgpack:"packed"`
	First      wire.Natural    `msgpack:"first"`
	Log        bool            `msgpack:"log"`
	Candidates *candidates     `msgpack:"candidates"`
}

// candidates is an option of open: of how many afterstates slabs tell, and what.
type candidates struct {
	Most int64  `msgpack:"most"`
	Of   string `msgpack:"of"`
}

// read returns what it asks for, with the features of g, or refuses it.
func (c *candidates) read(s *Server, g *env.Game) (*batch.Candidates, error) {
	if c == nil {
		return nil, nil
	}
	if c.Most < 1 || c.Most > int64(g.Actions) {
		return nil, badParams("open: candidates: most is %d, want 1 to %d", c.Most, g.Actions)
	}
	out := &batch.Candidates{Most: int(c.Most)}
	switch c.Of {
	case "observations":
		return out, nil
	case "features":
		have, err := s.featuresOf(g, "open: candidates")
		out.Features = have
		return out, err
	}
	return nil, badParams(`open: candidates: of is %.32q, want "features" or "observations"`, c.Of)
}

func (s *session) open(f *wire.Frame, g *env.Game) error {
	o := openOptions{NumEnvs: 1}
	if err := f.Options(1, &o); err != nil {
		return err
	}
	c, err := o.config(g)
	if err != nil {
		return err
	}
	if most := s.srv.c.Limits.MaxHandles; len(s.handles) >= most {
		return wire.Exceeds("max_handles", int64(most), int64(most+1), "--max-handles")
	}
	if most := s.srv.c.Limits.MaxEnvs; c.Envs > most {
		return wire.Exceeds("max_envs", int64(most), int64(c.Envs), "--max-envs")
	}
	what := batch.Options{ID: s.next + 1, Fields: o.Fields, Packed: o.Packed, Log: o.Log, First: uint64(o.First),
		Seeds: vec.From(uint64(o.Seed + o.First)), Curriculum: o.Curriculum}
	if o.Seeds != nil {
		if what.Seeds, err = seedList("open", o.Seeds, c.Envs); err != nil {
			return err
		}
	}
	if what.Seats, err = readMixtures("open", o.Opponents); err != nil {
		return err
	}
	if what.Candidates, err = o.Candidates.read(s.srv, g); err != nil {
		return err
	}
	c.Workers, c.Context = s.srv.c.Workers, s.Context
	b, err := batch.New(g, c, what, &s.agents, s.srv.ledger.Tab(s.token))
	if err != nil {
		return err
	}
	s.next++
	h := &handle{Batch: b, session: s.id, took: quickStep, alone: len(o.Opponents) == 0} // until it is known
	s.handles[b.ID] = h
	s.srv.mu.Lock()
	s.srv.open[h] = s.token
	s.srv.mu.Unlock()
	s.sizeSteps()
	if err := s.Reply(f.ID, h.facts()); err != nil {
		s.closeHandle(b.ID)
		return err
	}
	return nil
}

func (h *handle) facts() wire.Fields {
	return wire.Fields{
		"h", h.ID, "game", h.Game.Name, "num_envs", h.Config.Envs, "seats", h.Config.Seats, "players", h.Driven(),
		"rows_per_env", h.Env.Rows(), "rows", h.Rows, "layout", announce(&h.Layout), "slab_len", len(h.Own.Slab),
		"reply_len", len(h.Message), "state_len", h.StateLen(), "memory", h.Memory(), "opponents", h.Opponents.Specs(0),
	}
}

func announce(l *batch.Layout) (out []map[string]any) {
	for _, f := range l.All() {
		out = append(out, map[string]any{
			"name": f.Name, "dtype": f.DType, "shape": f.Shape, "off": f.Offset, "len": f.Len,
		})
	}
	return out
}

// config converts the options to a vec.Config without agents.
func (o *openOptions) config(g *env.Game) (c vec.Config, err error) {
	bad := func(what string, v int64, low, high int) error {
		return badParams("open: %s is %d, want %d to %d", what, v, low, high)
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

func seedList(method string, b []byte, envs int) (vec.Seeds, error) {
	if len(b) != 8*envs {
		return vec.Seeds{}, badParams("%s: seeds has %d bytes, want %d: 8 for each of the %d games",
			method, len(b), 8*envs, envs)
	}
	return vec.List(words[uint64](b)), nil
}

func (s *session) close(f *wire.Frame, h *handle) error {
	s.closeHandle(h.ID)
	return s.Reply(f.ID, true)
}

func (s *session) shares() bool {
	_, ok := s.Conn.(*net.UnixConn)
	return ok && memory.CanShare
}

func (s *session) canShare(method string) error {
	if s.shares() {
		return nil
	}
	return badParams("%s: this connection cannot share memory: connect over a unix socket on Linux", method)
}

// share allocates slots in shared memory and sends its file descriptor with the response.
func (s *session) share(f *wire.Frame, h *handle) error {
	slots, games := f.Int(1, "slots", 1, batch.MostSlots), int64(h.Config.Envs)
	if !f.Absent(2) {
		games = f.Int(2, "games", 1, games)
	}
	if err := f.Err(); err != nil {
		return err
	}
	if err := s.canShare("share"); err != nil {
		return err
	}
	shared, err := h.Share(int(slots), int(games))
	if err != nil {
		return err
	}
	return s.pass(f.ID, shared, wire.Fields{"first", shared.First, "slots", slots, "stride", shared.Stride,
		"actions", shared.Actions, "len", shared.Len})
}

// shareFinal shares the last observations of ended games: a client in this process gets their address.
func (s *session) shareFinal(f *wire.Frame, h *handle) error {
	if s.local {
		l, at, err := h.FinalHere()
		if err != nil {
			return err
		}
		return s.Reply(f.ID, wire.Fields{"layout", announce(l), "len", l.Len, "at", uint64(uintptr(at))})
	}
	if err := s.canShare("share_final"); err != nil {
		return err
	}
	shared, err := h.ShareFinal()
	if err != nil {
		return err
	}
	return s.pass(f.ID, shared, wire.Fields{"layout", announce(shared.Layout), "len", shared.Len})
}

// pass responds to a request and sends a file descriptor with the first byte of the response. It closes the file.
func (s *session) pass(id uint32, shared *batch.Shared, result any) error {
	parts, err := wire.Result(id, result)
	if err != nil {
		return errors.Join(err, shared.Close())
	}
	s.Pass(parts, shared.File)
	if err := shared.Close(); err != nil {
		s.srv.log.Warn("close shared memory", "session", s.id, "err", err)
	}
	return nil
}
