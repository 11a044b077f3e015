// Package cluster plays the self-play of one run in many processes: rollouts are the jobs of a fleet; see package
// agents/fleet for what happens to a job and for what happens if something fails.
//
// A job is a rollout of several slots; see selfplay.Task. The learner takes the results in the order of slots, so that
// its weights are the same, byte for byte, for any number of workers, whatever was lost, late or repeated on the way.
// This needs a budget of iterations, and workers that compute as the learner does: each plays a self-test for every
// kind of rollout and is refused if its bytes differ.
//
// A job that fails too often is split into its slots; a slot that fails as often by itself ends the run.
package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"blockyard/agents/fleet"
	"blockyard/agents/fleet/broker"
	"blockyard/agents/mlp"
	"blockyard/datasets/program/disk"
	"blockyard/train/selfplay"
)

// A Learner has the rollouts of a run played by workers, and plays a share of the results again to verify them.
type Learner struct {
	*fleet.Server

	run    *selfplay.Run
	slots  int
	player *selfplay.Player // decodes results, and plays some of them again
	log    *slog.Logger
	verifier

	mu      sync.Mutex
	sent    map[place]*sentTask // until their iteration is over
	waiting int                 // the iteration that Play waits for
	arrived chan struct{}       // has a value after an arrival
	cost    cost                // of the last results

	checks map[selfplay.Rollout]string // self-tests by kind of rollout
	net    *mlp.Net                    // in the object store
	netID  string
}

// RunID returns the id of the run in a folder. It creates one if there is none.
func RunID(folder string) (string, error) {
	path := filepath.Join(folder, "run-id")
	text, err := os.ReadFile(path)
	if err == nil {
		id := strings.TrimSpace(string(text))
		return id, fleet.CheckName(id)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	id := rand.Text()[:10]
	return id, errors.Join(os.MkdirAll(folder, 0o755), disk.WriteText(path, 0o644, id+"\n"))
}

// NewLearner takes the lease of the run and lets workers in. It plays a share verify of the results itself, to compare.
// o has a Folder, which also holds the run's id, and a Log. The caller must Close the learner.
func NewLearner(ctx context.Context, site *broker.Site, r *selfplay.Run, limits fleet.Limits, verify float64,
	o fleet.Options) (*Learner, error) {
	id, err := RunID(o.Folder)
	if err != nil {
		return nil, err
	}
	l := &Learner{run: r, slots: len(r.Slots), log: o.Log, sent: map[place]*sentTask{}, arrived: make(chan struct{}, 1),
		checks: map[selfplay.Rollout]string{}, verifier: newVerifier(verify, o.Folder)}
	settings, err := json.Marshal(r.Settings)
	if err != nil {
		return nil, err
	}
	if l.player, err = selfplay.NewPlayer(r.Game, r.Settings); err != nil {
		return nil, err
	}
	o.Noun, o.Jobs, o.Iteration = "task", (1+aheadMost)*len(r.Slots), l.iteration
	l.Server, err = fleet.Serve(ctx, site, fleet.Run{
		ID: id, Kind: Kind, Game: r.Game.Rules.Name, Limits: limits, Facts: facts(r.Game), Spec: settings,
	}, o)
	if err != nil {
		return nil, err
	}
	if err = l.begin(ctx); err == nil {
		err = l.Server.Open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(false))
	}
	return l, nil
}

func (l *Learner) iteration() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting
}

func (l *Learner) take(s *sentTask, r *fleet.Result) error {
	files, err := unpackResults(r.Data, len(s.tasks))
	var slots []*selfplay.Slot
	for k := 0; k < len(files) && err == nil; k++ {
		var slot *selfplay.Slot
		if slot, err = l.player.Decode(&s.tasks[k], files[k]); err == nil {
			err = l.check(r, &s.tasks[k], files[k])
			slots = append(slots, slot)
			r.Games, r.Moves = r.Games+slot.Ended, r.Moves+slot.Moves
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		return l.doubt(r.Worker, err)
	}
	s.slots = slots
	l.cost.add(r.Busy, len(r.Data), len(slots))
	if r.Verified < len(slots) {
		l.unverified[r.Worker] = true
	}
	return nil
}

// taken sends the tasks that can follow one whose results were taken.
func (l *Learner) taken() {
	l.mu.Lock()
	more := l.extend()
	l.mu.Unlock()
	l.wake()
	if err := l.Submit(context.Background(), more...); err != nil {
		l.Fail(err)
	}
}

// wake lets Play look at what has arrived.
func (l *Learner) wake() {
	select {
	case l.arrived <- struct{}{}:
	default:
	}
}

// job returns a task as a job. Its slots count as sent. The caller holds mu.
func (l *Learner) job(s *sentTask) *fleet.Job {
	first := &s.tasks[0]
	spec := &taskSpec{Check: s.check, Iteration: first.Iteration, Rollout: first.Rollout, Net: first.Net,
		First: first.Slot}
	for _, t := range s.tasks {
		spec.Starts = append(spec.Starts, t.Start)
		l.sent[place{t.Iteration, t.Slot}] = s
	}
	j := &fleet.Job{ID: fmt.Sprintf("%d-%d", first.Iteration, first.Slot), Spec: spec, Done: l.taken}
	if l.returns > 0 { // results of an earlier job are not its
		j.ID = fmt.Sprintf("r%d-%s", l.returns, j.ID)
	}
	j.Take = func(r *fleet.Result) error { return l.take(s, r) }
	if n := len(s.tasks); n > 1 {
		j.ID += fmt.Sprintf("-%d", n)
		j.Split = func() (parts []*fleet.Job) { // a task that failed too often, to find the slot that fails
			l.mu.Lock()
			defer l.mu.Unlock()
			for k := range s.tasks {
				parts = append(parts, l.job(&sentTask{tasks: s.tasks[k : k+1], check: s.check}))
			}
			return parts
		}
	}
	return j
}
