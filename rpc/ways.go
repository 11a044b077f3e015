package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"time"
	"unsafe"

	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/client"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

// toys are games that cost next to nothing, for measuring what is around a game.
var toys = []*env.Game{toy.Pick, toy.Turns}

func lookup(name string) (*env.Game, error) {
	for _, g := range toys {
		if g.Name == name {
			return g, nil
		}
	}
	return games.Lookup(name)
}

func cores() int { return runtime.GOMAXPROCS(0) }

// ways are the roads that are compared at n games; the first is what the others are
// measured by.
func (c *benchCmd) ways(ctx context.Context, game *env.Game, n int, dir string, addresses []string) ([]*way, func() error, error) {
	moves, err := trace(game, n, c.Seed)
	if err != nil {
		return nil, nil, err
	}
	var closers []io.Closer
	closeAll := func() error {
		var errs []error
		for _, closer := range closers {
			errs = append(errs, closer.Close())
		}
		return errors.Join(errs...)
	}
	direct, e, err := inProcess(game, n, c.Seed, moves)
	if err != nil {
		return nil, nil, err
	}
	closers = append(closers, e)
	ways := []*way{direct}
	size := 0
	for i, name := range []string{"unix", "tcp"} {
		conn, err := client.Dial(ctx, addresses[i], "")
		if err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
		closers = append(closers, conn)
		w, length, err := overWire(conn, name, game, n, c.Seed, moves)
		if err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
		ways, size = append(ways, w), length
	}
	raw, err := bare(filepath.Join(dir, fmt.Sprintf("raw%d", n)), wire.StepHeadLen+2*len(moves[0]), wire.HeadLen+size)
	if err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	closers = append(closers, raw)
	floor := &way{name: "bare socket", reset: func() error { return nil }, step: func(int) error { return raw.exchange() }, cpu: ownCPU}
	return append(ways, floor), closeAll, nil
}

func inProcess(game *env.Game, n int, seed uint64, moves [][]env.Action) (*way, *vec.Env, error) {
	e, err := vec.New(game, vec.Config{Envs: n})
	if err != nil {
		return nil, nil, err
	}
	out, err := e.NewBatch()
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return &way{
		name:  "in process",
		reset: func() error { return e.Reset(vec.From(seed), nil, out) },
		step:  func(k int) error { return e.Step(moves[k], out) },
		cpu:   ownCPU,
	}, e, nil
}

func overWire(conn *client.Client, name string, game *env.Game, n int, seed uint64, moves [][]env.Action) (*way, int, error) {
	g, err := conn.Open(game.Name, map[string]any{"num_envs": n, "seed": seed})
	if err != nil {
		return nil, 0, err
	}
	raw := make([][]byte, len(moves))
	for k, m := range moves {
		raw[k] = unsafe.Slice((*byte)(unsafe.Pointer(&m[0])), 2*len(m))
	}
	return &way{
		name:  name,
		reset: func() error { return g.Show("reset", map[string]any{"seed": seed}) },
		step:  func(k int) error { return g.Step(raw[k]) },
		cpu: func() (time.Duration, error) {
			own, err := ownCPU()
			if err != nil {
				return 0, err
			}
			var stats struct {
				CPU float64 `msgpack:"cpu_s"`
			}
			err = conn.Call("stats", &stats)
			return own + time.Duration(stats.CPU*1e9), err
		},
	}, g.Len, nil
}

// ownCPU is the processor time of this process so far.
func ownCPU() (time.Duration, error) { return server.CPU() }

// A bareSocket exchanges messages of fixed lengths over a unix socket with a goroutine
// that does nothing else: what no server can be faster than.
type bareSocket struct {
	l        net.Listener
	conn     net.Conn
	ask, got []byte
}

func bare(path string, ask, answer int) (*bareSocket, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		server.Tune(conn)
		in, out := make([]byte, ask), make([]byte, answer)
		for {
			if _, err := io.ReadFull(conn, in); err != nil {
				break
			}
			if _, err := conn.Write(out); err != nil {
				break
			}
		}
		_ = conn.Close()
	}()
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	server.Tune(conn)
	return &bareSocket{l: l, conn: conn, ask: make([]byte, ask), got: make([]byte, answer)}, nil
}

func (b *bareSocket) exchange() error {
	if _, err := b.conn.Write(b.ask); err != nil {
		return err
	}
	_, err := io.ReadFull(b.conn, b.got)
	return err
}

// Close implements io.Closer.
func (b *bareSocket) Close() error { return errors.Join(b.conn.Close(), b.l.Close()) }
