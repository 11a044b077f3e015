package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"blockyard/agents/fleet"
	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

const Kind = "rollouts" // the kind of a run whose jobs are rollouts

// A runPlayer plays the rollouts of one run in a worker. It has the settings of the run, and the networks of its tasks.
type runPlayer struct {
	run      *fleet.Run
	get      fleet.Get
	game     *games.Game
	settings selfplay.Algorithm

	mu     sync.Mutex
	checks map[selfplay.Rollout]string // self-tests that were played
	nets   map[string]*mlp.Net         // the newest
}

const mostNets = 2 // kept at a time

// Open returns the fleet.Kind by which workers play rollouts, with the settings of an algorithm to be filled in.
func Open(algorithm func(*games.Game) selfplay.Algorithm) fleet.Kind {
	return func(_ context.Context, r *fleet.Run, get fleet.Get) (fleet.NewPlayer, error) {
		g, err := games.Open(r.Game)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w: run the same program as the learner", r.ID, err)
		}
		if err := r.Agree(facts(g)); err != nil {
			return nil, err
		}
		w := &runPlayer{run: r, get: get, game: g, settings: algorithm(g),
			checks: map[selfplay.Rollout]string{}, nets: map[string]*mlp.Net{}}
		if err := decode(r.Spec, w.settings); err != nil {
			return nil, fmt.Errorf("settings of run %s: %w: run the same program as the learner", r.ID, err)
		}
		if _, err := selfplay.NewPlayer(g, w.settings); err != nil {
			return nil, fmt.Errorf("run %s: %w", r.ID, err)
		}
		return func() (fleet.Player, error) {
			p, err := selfplay.NewPlayer(g, w.settings)
			return func(ctx context.Context, text json.RawMessage) (*fleet.Result, error) {
				return w.play(ctx, p, text)
			}, err
		}, nil
	}
}

// facts are what a worker must have like the learner.
func facts(g *games.Game) map[string]string {
	return map[string]string{
		"rules of " + g.Rules.Name + " in version":       strconv.Itoa(g.Rules.Rules),
		"features of " + g.Rules.Name + " with the hash": fleet.Hash(g.Features),
	}
}

func (w *runPlayer) play(ctx context.Context, p *selfplay.Player, text []byte) (*fleet.Result, error) {
	t, err := parseTask(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fleet.ErrRefused, err)
	}
	net, err := w.prepare(ctx, t)
	if err != nil {
		return nil, err
	}
	all := new(fleet.Result)
	files := make([][]byte, len(t.Starts))
	for k := range files {
		file, r, err := p.Play(ctx, t.task(k), net)
		if err != nil {
			return nil, err
		}
		files[k] = file
		all.Games, all.Moves = all.Games+r.Ended, all.Moves+r.Moves
	}
	all.Data = packResults(files)
	return all, nil
}

// prepare plays the self-test for the task's kind of rollout, once per kind, and returns the task's net.
func (w *runPlayer) prepare(ctx context.Context, t *taskSpec) (*mlp.Net, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kind := kindOf(t.Rollout)
	sum, ok := w.checks[kind]
	if !ok {
		var err error
		if sum, err = selfplay.SelfTest(w.game, w.settings, t.Rollout); err != nil {
			return nil, fmt.Errorf("self-test: %w", err)
		}
		w.checks[kind] = sum
	}
	if err := w.run.AgreeSelfTest(kind.Kind+" play", t.Check, sum); err != nil {
		return nil, err
	}
	if n := w.nets[t.Net]; n != nil {
		return n, nil
	}
	file, err := w.get(ctx, t.Net)
	if err != nil {
		return nil, err
	}
	n, err := selfplay.ParseNet(file)
	if err != nil {
		return nil, fmt.Errorf("%w: net %.12s: %w", fleet.ErrRefused, t.Net, err)
	}
	if len(w.nets) >= mostNets {
		clear(w.nets)
	}
	w.nets[t.Net] = n
	return n, nil
}

const mostSlots = 256 // how many slots a task can have

// A taskSpec is a job: a rollout of consecutive slots.
type taskSpec struct {
	Check     string              `json:"check"` // SHA-256 of the self-test for the rollout, in hexadecimal
	Iteration int                 `json:"iteration"`
	Rollout   selfplay.Rollout    `json:"rollout"`
	Net       string              `json:"net"` // SHA-256 of its file
	First     int                 `json:"first"`
	Starts    []selfplay.GameSlot `json:"starts"` // of the slots from First on
}

func (t *taskSpec) task(k int) *selfplay.Task {
	return &selfplay.Task{Iteration: t.Iteration, Slot: t.First + k, Rollout: t.Rollout, Net: t.Net, Start: t.Starts[k]}
}

// decode reads JSON. Unknown fields are errors: they may change what is played.
func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func parseTask(data []byte) (*taskSpec, error) {
	t := new(taskSpec)
	if err := decode(data, t); err != nil {
		return nil, fmt.Errorf("not a task: %w", err)
	}
	if n := len(t.Starts); t.Iteration < 0 || t.First < 0 || n < 1 || n > mostSlots {
		return nil, fmt.Errorf("not a task: iteration %d, %d slots from %d, want 1 to %d", t.Iteration, n, t.First, mostSlots)
	}
	return t, nil
}

// packResults returns the results of a task's slots as one file: each after its length, 4 bytes, little-endian.
func packResults(files [][]byte) (all []byte) {
	for _, f := range files {
		all = binary.LittleEndian.AppendUint32(all, uint32(len(f)))
		all = append(all, f...)
	}
	return all
}

// unpackResults reads what packResults returned for n slots. The results share memory with data.
func unpackResults(data []byte, n int) (files [][]byte, err error) {
	for range n {
		if len(data) < 4 {
			return nil, fmt.Errorf("%d results, want %d", len(files), n)
		}
		size := uint64(binary.LittleEndian.Uint32(data))
		if data = data[4:]; size > uint64(len(data)) {
			return nil, fmt.Errorf("a result of %d bytes, %d are there", size, len(data))
		}
		files, data = append(files, data[:size]), data[size:]
	}
	if len(data) > 0 {
		return nil, fmt.Errorf("%d bytes after the results of %d slots", len(data), n)
	}
	return files, nil
}
