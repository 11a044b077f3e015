package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"blockyard/agents/fleet"
	"blockyard/train/selfplay"
)

// VerifiedFile is the state of a run before the first result, of any worker, that the learner has not played again. A
// worker that sends a false result is excluded, and if others of it are part of the run, the run returns to this state.
const VerifiedFile = "verified.safetensors"

const (
	firstVerified = 4   // results of a worker, rollouts of one slot, that are always played again
	mostVerifying = 0.2 // share of its time that a learner plays others again at most, unless it plays all again
)

// A verifier plays results again, which no worker can know.
type verifier struct {
	share float64        // of the results, 0 to 1
	draw  func() float64 // 0 to 1; tests replace it
	began time.Time
	took  time.Duration
	known map[string]int // results by worker

	path       string          // of the state
	unverified map[string]bool // workers of whose results since then some were not played again
	found      error           // such a worker has sent a false result
	returns    int             // to the state
}

func newVerifier(share float64, folder string) verifier {
	return verifier{share: share, draw: rand.Float64, began: time.Now(), known: map[string]int{},
		path: filepath.Join(folder, VerifiedFile), unverified: map[string]bool{}}
}

// due reports whether the n-th result of a worker is played again: the first ones are, then ever fewer until it is the
// share. So a new worker is soon known, and none gets rid of the share.
func (v *verifier) due(n int) bool {
	if v.share == 0 || v.share == 1 || n <= firstVerified {
		return v.share > 0
	}
	busy := float64(v.took) > mostVerifying*float64(time.Since(v.began))
	return !busy && v.draw() < max(v.share, firstVerified/float64(n))
}

// check plays a result again if that is due, and returns an error if it differs.
func (l *Learner) check(r *fleet.Result, t *selfplay.Task, file []byte) error {
	l.known[r.Worker]++
	if !l.due(l.known[r.Worker]) {
		return nil
	}
	r.Verified++
	began := time.Now()
	ours, _, err := l.player.Play(context.Background(), t, t.Rollout.Net)
	l.took += time.Since(began)
	if err == nil && !bytes.Equal(ours, file) {
		err = fmt.Errorf("slot %d differs from what the learner plays", t.Slot)
	}
	return err
}

var errFalse = errors.New("a result is false")

// doubt notes that a worker has sent a false result, and returns the reason. The caller holds mu.
func (l *Learner) doubt(worker string, why error) error {
	if l.unverified[worker] {
		l.found = fmt.Errorf("%w: worker %s: %w", errFalse, worker, why)
		l.wake()
	}
	return why
}

// begin saves the state of a run that has only verified results. A run that also has others, of a worker that was
// excluded when it could not return any more, returns now.
func (l *Learner) begin(ctx context.Context) error {
	for _, worker := range l.run.Unverified {
		if l.unverified[worker] = true; l.Excluded(worker) {
			return l.putBack(ctx, errFalse)
		}
	}
	if len(l.unverified) > 0 {
		return nil
	}
	return l.run.Save(l.path)
}

// putBack returns the run to its verified state: nothing that was played since counts.
func (l *Learner) putBack(ctx context.Context, why error) error {
	if err := l.Reset(ctx); err != nil { // after it, no result is taken
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.run.Return(l.path); err != nil {
		return fmt.Errorf("%w; the run cannot return to before it: begin another run (%w)", why, err)
	}
	clear(l.sent)
	clear(l.unverified)
	l.found, l.returns = nil, l.returns+1
	l.log.Warn("the run returns to before the first result that was not played again",
		"iteration", l.run.Counts.Iterations, "reason", why)
	return nil
}
