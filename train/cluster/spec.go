package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"blockyard/agents/fleet"
	"blockyard/env/games"
	task "blockyard/train/games"
	"blockyard/train/selfplay"
)

// Limits are the limits of the queues of a run.
type Limits struct {
	AckWait    time.Duration `json:"ack_wait"`   // after which the task of a silent worker is delivered again
	Deliveries int           `json:"deliveries"` // of a task, before the run gives it up
}

// DefaultLimits suit tasks of up to seconds: a worker says every third of AckWait that it still plays.
var DefaultLimits = Limits{AckWait: 10 * time.Second, Deliveries: 8}

// A Spec is what a worker needs to know of a run. It lies in the bucket of runs.
type Spec struct {
	Version  int             `json:"version"`
	Run      string          `json:"run"`
	Epoch    uint64          `json:"epoch"`
	Kind     string          `json:"kind,omitempty"` // see fleet.Head
	State    string          `json:"state"`          // running, paused or done
	Game     string          `json:"game"`
	Rules    int             `json:"rules"`
	Features string          `json:"features"` // SHA-256 of their names, in hexadecimal
	Settings json.RawMessage `json:"settings"` // of the algorithm
	Slots    int             `json:"slots"`
	Limits   Limits          `json:"limits"`
}

// featuresID identifies the features of a game.
func featuresID(g *task.Game) string {
	sum := sha256.Sum256([]byte(strings.Join(g.Features, "\n")))
	return hex.EncodeToString(sum[:])
}

// newSpec describes a run.
func newSpec(r *selfplay.Run, id string, l Limits) (*Spec, error) {
	text, err := json.Marshal(r.Settings())
	return &Spec{
		Version: Version, Run: id, State: fleet.Running, Game: r.Game.Rules.Name, Rules: r.Game.Rules.Rules,
		Features: featuresID(r.Game), Settings: text, Slots: len(r.Slots), Limits: l,
	}, err
}

// open returns the game of the run, or why this program cannot play it.
func (s *Spec) open() (*task.Game, error) {
	refuse := func(what string, theirs, ours any) error {
		return fmt.Errorf("run %s: the learner has %s %v, this worker %v: run the same program as the learner",
			s.Run, what, theirs, ours)
	}
	if s.Version != Version {
		return nil, refuse("format version", s.Version, Version)
	}
	rules, err := games.Open(s.Game)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w: run the same program as the learner", s.Run, err)
	}
	g, err := task.Of(rules)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", s.Run, err)
	}
	if g.Rules.Rules != s.Rules {
		return nil, refuse("rules of "+s.Game+" in version", s.Rules, g.Rules.Rules)
	}
	if ours := featuresID(g); ours != s.Features {
		return nil, refuse("features of "+s.Game+" with the hash", s.Features, ours)
	}
	return g, nil
}

// The names of what lies in the broker, besides what package broker names.
func leaseKey(run string) string { return "lease." + run }
func queueName(run string, epoch uint64, what string) string {
	return fmt.Sprintf("blockyard-%s-%d-%s", run, epoch, what)
}
func queueSubject(run string, epoch uint64, what string) string {
	return fmt.Sprintf("blockyard.%s.%d.%s", run, epoch, what)
}

// readSpec reads the spec of a run; fleet.ErrNoRun if there is none.
func readSpec(ctx context.Context, kv jetstream.KeyValue, run string) (*Spec, error) {
	s := new(Spec)
	return s, fleet.ReadSpec(ctx, kv, run, s)
}
