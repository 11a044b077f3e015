package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/client"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// sized returns the game and the number of environments for n games; null is one game as large as n.
func sized(name string, n int) (g *env.Game, envs int, err error) {
	if name == "null" {
		name, envs = fmt.Sprintf("null:%d", n), 1
	} else {
		envs = n
	}
	for _, g := range toys {
		if g.Name == name {
			return g, envs, nil
		}
	}
	if strings.HasPrefix(name, "null:") {
		return nil, 0, fmt.Errorf("game null has no size %d, want one of %v", n, nullSizes)
	}
	g, err = games.Lookup(name)
	return g, envs, err
}

func cores() int { return runtime.GOMAXPROCS(0) }

// A field is what the ways of one comparison have in common.
type field struct {
	game    *env.Game
	envs    int
	seed    uint64
	moves   [][]env.Action
	closers []io.Closer
}

func (f *field) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// ways are the transports to compare with n games. The first one is the reference.
func (c *benchCmd) ways(ctx context.Context, n int, dir string, addresses []string) (ways []*way, f *field, err error) {
	f = &field{seed: c.Seed}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if f.game, f.envs, err = sized(c.Game, n); err != nil {
		return nil, f, err
	}
	if f.moves, err = trace(f.game, f.envs, c.Seed); err != nil {
		return nil, f, err
	}
	direct, err := f.inProcess()
	if err != nil {
		return nil, f, err
	}
	ways, size := []*way{direct}, 0
	for _, road := range []struct {
		name, address string
		kind          roadKind
	}{
		{"shm", addresses[0], roadKind{shm: true}}, {"shm, two halves", addresses[0], roadKind{shm: true, halves: true}},
		{"unix", addresses[0], roadKind{}}, {"unix, two halves", addresses[0], roadKind{halves: true}},
		{"unix, packed", addresses[0], roadKind{packed: true}}, {"tcp", addresses[1], roadKind{}},
	} {
		if road.kind.halves && f.envs < 2 || road.kind.shm && !canShare {
			continue
		}
		w, length, err := f.overWire(ctx, road.name, road.address, road.kind)
		if err != nil {
			return nil, f, fmt.Errorf("%s: %w", road.name, err)
		}
		if road.name == "unix" {
			size = length
		}
		ways = append(ways, w)
	}
	raw, err := bare(ctx, filepath.Join(dir, fmt.Sprintf("raw%d", n)), wire.StepHeadLen+2*len(f.moves[0]), wire.HeadLen+size)
	if err != nil {
		return nil, f, err
	}
	f.closers = append(f.closers, raw)
	nothing := func() error { return nil }
	return append(ways, &way{name: "bare socket", reset: nothing, flush: nothing, step: func(int) error { return raw.exchange() }, cpu: raw.cpu}), f, nil
}

func (f *field) inProcess() (*way, error) {
	e, err := vec.New(f.game, vec.Config{Envs: f.envs})
	if err != nil {
		return nil, err
	}
	f.closers = append(f.closers, e)
	out, err := e.NewBatch()
	if err != nil {
		return nil, err
	}
	return &way{
		name:  "in process",
		reset: func() error { return e.Reset(vec.From(f.seed), nil, out) },
		step:  func(k int) error { return e.Step(f.moves[k], out) },
		flush: func() error { return nil },
		cpu:   ownCPU,
	}, nil
}

// roadKind selects how steps are sent.
type roadKind struct {
	shm, packed bool
	halves      bool // double-buffered: one half of the games steps while the other half's response is read
}

// overWire opens the games on a server, as one handle or as two on connections of their own.
func (f *field) overWire(ctx context.Context, name, address string, kind roadKind) (*way, int, error) {
	parts := 1
	if kind.halves {
		parts = 2
	}
	r := &road{kind: kind}
	for part := range parts {
		conn, err := client.Dial(ctx, address, "")
		if err != nil {
			return nil, 0, err
		}
		f.closers = append(f.closers, conn)
		lo, hi := f.envs*part/parts, f.envs*(part+1)/parts
		g, err := conn.Open(f.game.Name, map[string]any{"num_envs": hi - lo, "seed": f.seed, "first": lo, "packed": kind.packed})
		if err == nil && kind.shm {
			err = g.Share(2)
		}
		if err != nil {
			return nil, 0, err
		}
		l := &lane{g: g, shm: kind.shm}
		for _, m := range f.moves {
			some := m[lo*g.RowsPerEnv : hi*g.RowsPerEnv]
			l.moves = append(l.moves, unsafe.Slice((*byte)(unsafe.Pointer(&some[0])), 2*len(some)))
		}
		r.lanes = append(r.lanes, l)
	}
	return &way{
		name:  name,
		reset: func() error { return r.reset(f.seed) },
		step:  r.step,
		flush: r.flush,
		cpu:   func() (time.Duration, error) { return bothCPU(r.lanes[0].g.Client()) },
	}, r.lanes[0].g.Len, nil
}

// A road is the one or two connections over which a step goes.
type road struct {
	kind  roadKind
	lanes []*lane
}

// A lane is one connection with its handle.
type lane struct {
	g     *client.Games
	shm   bool
	moves [][]byte
	busy  bool // a response is outstanding
}

func (r *road) reset(seed uint64) error {
	for _, l := range r.lanes {
		if err := errors.Join(l.wait(), l.g.CallSlab("reset", map[string]any{"seed": seed})); err != nil {
			return err
		}
	}
	return nil
}

func (r *road) step(k int) error {
	for _, l := range r.lanes {
		if err := errors.Join(l.wait(), l.post(k)); err != nil {
			return err
		}
	}
	if !r.kind.halves {
		return r.flush()
	}
	return nil
}

func (r *road) flush() error {
	for _, l := range r.lanes {
		if err := l.wait(); err != nil {
			return err
		}
	}
	return nil
}

func (l *lane) post(k int) error {
	l.busy = true
	if !l.shm {
		return l.g.StepAsync(l.moves[k])
	}
	copy(l.g.Slots[k%2].Actions, l.moves[k])
	return l.g.StepSlotAsync(k % 2)
}

func (l *lane) wait() error {
	if !l.busy {
		return nil
	}
	l.busy = false
	if l.shm {
		return l.g.StepSlotWait()
	}
	return l.g.StepWait()
}

// bothCPU is the total CPU time of this process and the server so far.
func bothCPU(conn *client.Client) (time.Duration, error) {
	own, err := ownCPU()
	if err != nil {
		return 0, err
	}
	var stats struct {
		CPU float64 `msgpack:"cpu_s"`
	}
	err = conn.Call("stats", &stats)
	return own + time.Duration(stats.CPU*1e9), err
}

// ownCPU is the CPU time of this process so far.
func ownCPU() (time.Duration, error) { return server.CPU() }

const canShare = runtime.GOOS == "linux"
