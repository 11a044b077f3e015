package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
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
		if !slices.Contains(nullSizes, n) {
			return nil, 0, fmt.Errorf("game null has no size %d, want one of %v", n, nullSizes)
		}
		return null(n), 1, nil
	}
	if k := slices.IndexFunc(toys, func(g *env.Game) bool { return g.Name == name }); k >= 0 {
		return toys[k], n, nil
	}
	g, err = games.Lookup(name)
	return g, n, err
}

// A field is what the ways of one comparison have in common.
type field struct {
	game    *env.Game
	envs    int
	seed    uint64
	moves   [][]env.Action // the trace: the actions of all rows at each step
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
	direct, err := f.inProcess()
	if err != nil {
		return nil, f, err
	}
	ways, size := []*way{{name: "in process", player: direct}}, 0
	for _, kind := range []roadKind{
		{name: "shm", shm: true}, {name: "shm, two halves", shm: true, halves: true}, {name: "unix"},
		{name: "unix, two halves", halves: true}, {name: "unix, packed", packed: true}, {name: "tcp", tcp: true},
	} {
		if kind.halves && f.envs < 2 || kind.shm && runtime.GOOS != "linux" {
			continue
		}
		address := addresses[0]
		if kind.tcp {
			address = addresses[1]
		}
		r, err := f.overWire(ctx, address, kind)
		if err != nil {
			return nil, f, fmt.Errorf("%s: %w", kind.name, err)
		}
		if kind.name == "unix" {
			size = r.lanes[0].g.Len
		}
		ways = append(ways, &way{name: kind.name, player: r})
	}
	socket := filepath.Join(dir, fmt.Sprintf("raw%d", n))
	raw, err := bare(ctx, socket, wire.StepHeadLen+2*len(f.moves[0]), wire.HeadLen+size)
	if err != nil {
		return nil, f, err
	}
	f.closers = append(f.closers, raw)
	return append(ways, &way{name: "bare socket", player: raw}), f, nil
}

// direct steps games in this process.
type direct struct {
	*field
	e   *vec.Env
	out *vec.Batch
}

func (d *direct) reset() error                { return d.e.Reset(vec.From(d.seed), nil, d.out) }
func (d *direct) step(k int) error            { return d.e.Step(d.moves[k], d.out) }
func (d *direct) flush() error                { return nil }
func (d *direct) cpu() (time.Duration, error) { return server.CPU() }

// inProcess opens the games in this process and records the trace: random legal actions.
func (f *field) inProcess() (*direct, error) {
	e, err := vec.New(f.game, vec.Config{Envs: f.envs})
	if err != nil {
		return nil, err
	}
	f.closers = append(f.closers, e)
	out, err := e.NewBatch()
	if err != nil {
		return nil, err
	}
	d := &direct{f, e, out}
	if err := d.reset(); err != nil {
		return nil, err
	}
	for range traceLen {
		moves := make([]env.Action, f.envs*e.Rows())
		if err := errors.Join(e.Sample(moves), e.Step(moves, out)); err != nil {
			return nil, err
		}
		f.moves = append(f.moves, moves)
	}
	return d, nil
}

// roadKind selects how steps are sent.
type roadKind struct {
	name             string
	shm, packed, tcp bool
	halves           bool // double-buffered: one half of the games steps while the other half's response is read
}

// overWire opens the games on a server, as one handle or as two on connections of their own.
func (f *field) overWire(ctx context.Context, address string, kind roadKind) (*road, error) {
	parts := 1
	if kind.halves {
		parts = 2
	}
	r := &road{kind: kind, seed: f.seed}
	for part := range parts {
		conn, err := client.Dial(ctx, address, "")
		if err != nil {
			return nil, err
		}
		f.closers = append(f.closers, conn)
		lo, hi := f.envs*part/parts, f.envs*(part+1)/parts
		g, err := conn.Open(f.game.Name, map[string]any{
			"num_envs": hi - lo, "seed": f.seed, "first": lo, "packed": kind.packed,
		})
		if err == nil && kind.shm {
			err = g.Share(2)
		}
		if err != nil {
			return nil, err
		}
		l := &lane{g: g, shm: kind.shm}
		for _, m := range f.moves {
			some := m[lo*g.RowsPerEnv : hi*g.RowsPerEnv]
			l.moves = append(l.moves, unsafe.Slice((*byte)(unsafe.Pointer(&some[0])), 2*len(some)))
		}
		r.lanes = append(r.lanes, l)
	}
	return r, nil
}

// A road is the one or two connections over which a step goes.
type road struct {
	kind  roadKind
	seed  uint64
	lanes []*lane
}

// A lane is one connection with its handle.
type lane struct {
	g     *client.Games
	shm   bool
	moves [][]byte
	busy  bool // a response is outstanding
}

func (r *road) reset() error {
	for _, l := range r.lanes {
		if err := errors.Join(l.wait(), l.g.Reset(map[string]any{"seed": r.seed})); err != nil {
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

func (r *road) cpu() (time.Duration, error) {
	own, err := server.CPU()
	if err != nil {
		return 0, err
	}
	var stats struct {
		CPU float64 `msgpack:"cpu_s"`
	}
	err = r.lanes[0].g.Client().Call("stats", &stats)
	return own + time.Duration(stats.CPU*1e9), err
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
