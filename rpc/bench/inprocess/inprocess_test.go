// Package inprocess steps games without a server, for the benchmarks in the folder above: the difference
// to a server's speed is the cost of the transport.
//
// Its test program (go test -c), without arguments, reads a request per line of JSON and answers with a line of JSON,
// as sides/worker.py does.
package inprocess

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
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

func TestMain(m *testing.M) {
	if len(os.Args) > 1 { // run by go test
		os.Exit(m.Run())
	}
	signal.Ignore(os.Interrupt) // the end of the input is what ends it
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "inprocess:", err)
		os.Exit(1)
	}
}

func TestServe(t *testing.T) {
	var out strings.Builder
	require.NoError(t, serve(strings.NewReader(`
{"do": "open", "id": 1, "options": {"game": "BlockBattle-v0", "envs": 2, "seed": 1}}
{"do": "burst", "id": 1, "steps": 100}
{"do": "close", "id": 1}
{"do": "burst", "id": 1, "steps": 1}
`[1:]), &out))
	answers := strings.Split(out.String(), "\n")
	require.JSONEq(t, `{"envs": 2, "rows": 4, "size": 0, "about": {}}`, answers[0])
	require.Regexp(t, `^{"cpu":[^,]+,"steps":100,"wall":[^,]+}$`, answers[1])
	require.Equal(t, []string{"{}", `{"error":"burst: nothing is open as 1"}`, ""}, answers[2:])
}

type request struct {
	Do      string
	ID      int
	Steps   int
	Options struct {
		Game      string
		Envs      int
		Seed      uint64
		Autoreset vec.Autoreset
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
	e := open[q.ID]
	switch {
	case q.Do == "open":
		e, err := start(q)
		if err != nil {
			return nil, err
		}
		open[q.ID] = e
		return map[string]any{"envs": q.Options.Envs, "rows": len(e.moves[0]), "size": 0, "about": map[string]any{}}, nil
	case e == nil:
		return nil, fmt.Errorf("%s: nothing is open as %d", q.Do, q.ID)
	case q.Do == "burst":
		wall, cpu, err := e.burst(q.Steps)
		return map[string]float64{"steps": float64(q.Steps), "wall": wall.Seconds(), "cpu": cpu.Seconds()}, err
	case q.Do == "close":
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
	if err = errors.Join(err, e.reset()); err != nil {
		return nil, errors.Join(err, e.games.Close())
	}
	return e, nil
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
