package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"blockyard/agents/fleet"
	"blockyard/agents/mlp"
	"blockyard/train/games"
	"blockyard/train/selfplay"
)

// Kind is the kind of a run whose jobs are rollouts.
const Kind = "rollouts"

// A guest plays the rollouts of one run in a worker.
type guest struct {
	run      *fleet.Run
	get      fleet.Get
	game     *games.Game
	settings selfplay.Algorithm

	mu     sync.Mutex
	checks map[selfplay.Rollout]string // self-tests that were played
	nets   map[string]*mlp.Net         // the newest
}

// mostNets are kept at a time.
const mostNets = 2

// Open returns the fleet.Kind by which workers play rollouts. algorithm returns empty settings for a game, to be filled
// with those of the run.
func Open(algorithm func(*games.Game) selfplay.Algorithm) fleet.Kind {
	return func(_ context.Context, r *fleet.Run, get fleet.Get) (fleet.NewPlayer, error) {
		g, err := games.Open(r.Game)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w: run the same program as the learner", r.ID, err)
		}
		if err := r.Agree(facts(g)); err != nil {
			return nil, err
		}
		w := &guest{run: r, get: get, game: g, settings: algorithm(g),
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

// play plays a task.
func (w *guest) play(ctx context.Context, p *selfplay.Player, text []byte) (*fleet.Result, error) {
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
func (w *guest) prepare(ctx context.Context, t *taskSpec) (*mlp.Net, error) {
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
