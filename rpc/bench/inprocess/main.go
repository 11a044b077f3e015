// Command inprocess steps games without a server, for the benchmarks in the folder above: the difference
// to a server's speed is the cost of the transport.
//
// It reads a request per line of JSON and answers with a line of JSON, as sides/worker.py does.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

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

func main() {
	signal.Ignore(os.Interrupt) // the end of the input is what ends it
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "inprocess:", err)
		os.Exit(1)
	}
}

type request struct {
	Do      string
	ID      int
	Steps   int
	Options struct {
		Game string
		Envs int
		Seed uint64
		// What happens when a game ends; by default NextStep, as in early commits.
		Autoreset vec.Autoreset
		// One row per acting seat instead of one per seat, which turn-based games of early commits had only.
		Acting bool
	}
}

// serve answers until the input ends; the error is one of reading or writing.
func serve(r io.Reader, w io.Writer) error {
	open := map[int]*entrant{}
	lines, out := bufio.NewScanner(r), json.NewEncoder(w)
	for lines.Scan() {
		var q request
		err := json.Unmarshal(lines.Bytes(), &q)
		reply := any(nil)
		if err == nil {
			reply, err = answer(&q, open)
		}
		if err != nil {
			reply = map[string]string{"error": err.Error()}
		}
		if err := out.Encode(reply); err != nil {
			return err
		}
	}
	return lines.Err()
}

func answer(q *request, open map[int]*entrant) (any, error) {
	if q.Do == "open" {
		e, err := start(q)
		if err != nil {
			return nil, err
		}
		open[q.ID] = e
		return map[string]any{"envs": q.Options.Envs, "rows": len(e.moves[0]), "size": 0, "about": map[string]any{}}, nil
	}
	e := open[q.ID]
	if e == nil {
		return nil, fmt.Errorf("%s: nothing is open as %d", q.Do, q.ID)
	}
	switch q.Do {
	case "burst":
		wall, cpu, err := e.burst(q.Steps)
		return map[string]float64{"steps": float64(q.Steps), "wall": wall.Seconds(), "cpu": cpu.Seconds()}, err
	case "close":
		delete(open, q.ID)
		return struct{}{}, e.games.Close()
	}
	return nil, fmt.Errorf("do: %q is none of open, burst, close", q.Do)
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
func start(q *request) (e *entrant, err error) {
	g, err := games.Lookup(q.Options.Game)
	if err != nil {
		return nil, err
	}
	e = &entrant{seed: q.Options.Seed}
	c := vec.Config{Envs: q.Options.Envs, Autoreset: q.Options.Autoreset}
	if q.Options.Acting {
		c.Rows = vec.ActingRows
	}
	if e.games, err = vec.New(g, c); err != nil {
		return nil, err
	}
	defer func(games *vec.Env) {
		if err != nil {
			err = errors.Join(err, games.Close())
		}
	}(e.games)
	for k := range e.out {
		if e.out[k], err = e.games.NewBatch(); err != nil {
			return nil, err
		}
	}
	if err := e.reset(); err != nil {
		return nil, err
	}
	for range traceLen {
		moves := make([]env.Action, q.Options.Envs*e.games.Rows())
		if err := errors.Join(e.games.Sample(moves), e.games.Step(moves, e.out[0])); err != nil {
			return nil, err
		}
		e.moves = append(e.moves, moves)
	}
	return e, e.reset()
}

func (e *entrant) reset() error {
	e.at = 0
	return e.games.Reset(vec.From(e.seed), nil, e.out[0])
}

// burst plays steps of the trace, which begins again as often as needed; resets are not timed.
func (e *entrant) burst(steps int) (wall, cpu time.Duration, err error) {
	for left := steps; left > 0; {
		if e.at == traceLen {
			if err := e.reset(); err != nil {
				return 0, 0, err
			}
		}
		some := min(left, traceLen-e.at)
		before, err := program.CPU()
		if err != nil {
			return 0, 0, err
		}
		begun := time.Now()
		for range some {
			if err := e.games.Step(e.moves[e.at], e.out[e.at%room]); err != nil {
				return 0, 0, err
			}
			e.at++
		}
		wall += time.Since(begun)
		after, err := program.CPU()
		if err != nil {
			return 0, 0, err
		}
		cpu += after - before
		left -= some
	}
	return wall, cpu, nil
}
