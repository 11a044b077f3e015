// Package inprocess steps games without a server, for the benchmarks in the folder above: the difference
// to a server's speed is the cost of the transport.
package inprocess

import (
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/datasets/program"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/vec"
)

// As in sides/adapters/ours.py. A trainer that keeps its observations does not find them in the cache
// either, hence several batches.
const (
	traceLen = 64 // steps that are recorded
	room     = 4  // batches that are written in turn
)

// A request is a line of standard input.
type request struct {
	Do      string // open or burst
	ID      int
	Steps   int
	Options struct {
		Game      string
		Envs      int
		Seed      uint64
		Autoreset vec.Autoreset
	}
}

// TestServe answers requests, each with a line of JSON, as sides/worker.py does; the first that fails ends it.
func TestServe(t *testing.T) {
	signal.Ignore(os.Interrupt) // the end of the input is what ends it
	open, in, out := map[int]*entrant{}, json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for in.More() {
		var q request
		require.NoError(t, in.Decode(&q))
		if q.Do == "open" {
			e, err := start(q)
			require.NoError(t, err)
			open[q.ID] = e
			about := map[string]any{"envs": q.Options.Envs, "rows": len(e.moves[0]), "size": 0, "about": map[string]any{}}
			require.NoError(t, out.Encode(about))
			continue
		}
		wall, cpu, err := open[q.ID].burst(q.Steps)
		require.NoError(t, err)
		took := map[string]float64{"steps": float64(q.Steps), "wall": wall.Seconds(), "cpu": cpu.Seconds()}
		require.NoError(t, out.Encode(took))
	}
}

// An entrant is games in memory and the trace that they are played by.
type entrant struct {
	games *vec.Env
	out   [room]*vec.Batch
	seed  uint64
	moves [][]env.Action
	at    int // the next step of the trace
}

// start opens games and records random legal actions of every seat.
func start(q request) (*entrant, error) {
	g, err := games.Lookup(q.Options.Game)
	if err != nil {
		return nil, err
	}
	e := &entrant{seed: q.Options.Seed}
	if e.games, err = vec.New(g, vec.Config{Envs: q.Options.Envs, Autoreset: q.Options.Autoreset}); err != nil {
		return nil, err
	}
	for k := range e.out {
		var bad error
		e.out[k], bad = e.games.NewBatch()
		err = errors.Join(err, bad)
	}
	err = errors.Join(err, e.reset())
	for range traceLen {
		moves := make([]env.Action, q.Options.Envs*e.games.Rows())
		err = errors.Join(err, e.games.Sample(moves), e.games.Step(moves, e.out[0]))
		e.moves = append(e.moves, moves)
	}
	return e, errors.Join(err, e.reset())
}

func (e *entrant) reset() error {
	e.at = 0
	return e.games.Reset(vec.From(e.seed), nil, e.out[0])
}

// burst plays steps of the trace, which begins again as often as needed; resets are not timed.
func (e *entrant) burst(steps int) (wall, cpu time.Duration, err error) {
	for left := steps; left > 0 && err == nil; {
		if e.at == traceLen {
			err = e.reset()
		}
		before, unknown := program.CPU()
		begun := time.Now()
		for ; left > 0 && e.at < traceLen && err == nil; left-- {
			err = e.games.Step(e.moves[e.at], e.out[e.at%room])
			e.at++
		}
		wall += time.Since(begun)
		after, _ := program.CPU()
		cpu += after - before
		err = errors.Join(err, unknown)
	}
	return wall, cpu, err
}
