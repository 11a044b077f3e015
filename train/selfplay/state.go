package selfplay

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/task"
)

// saved is a run but for its tensors: the metadata "run" of a state file.
type saved struct {
	Game   string       `json:"game"`
	Rules  int          `json:"rules"`
	Config Config       `json:"config"`
	Counts Counts       `json:"counts"`
	Curve  []Point      `json:"curve"`
	Steps  int          `json:"steps"` // of the optimiser
	Actor  *savedActor  `json:"actor,omitempty"`
	Backup *savedBackup `json:"backup,omitempty"`
	Slots  []savedSlot  `json:"slots"`
}

// savedBackup is a backup but for its base.
type savedBackup struct {
	Drift float64 `json:"drift"`
	Fits  int     `json:"fits"`
}

// savedActor is an actor but for its tensors.
type savedActor struct {
	Steps int `json:"steps"` // of its optimiser
	Fits  int `json:"fits"`
}

// savedSlot is a game in progress.
type savedSlot struct {
	State string  `json:"state"` // env.Encode, in base64
	Word  string  `json:"word"`  // of the slot's generator
	Who   []uint8 `json:"who"`
}

// Save writes the run as it stands between two steps. A run that Resume reads goes on as
// this one would have.
func (r *Run) Save(path string) error {
	tensors, steps := r.trainer.State()
	s := saved{Game: r.Game.Rules.Name, Rules: r.Game.Rules.Rules, Config: r.Config, Counts: r.Counts, Curve: r.Curve, Steps: steps}
	for _, x := range r.slots {
		b, err := env.Encode(nil, x.state)
		if err != nil {
			return err
		}
		s.Slots = append(s.Slots, savedSlot{base64.StdEncoding.EncodeToString(b), strconv.FormatUint(x.rand.Word, 16), x.who[:]})
	}
	tensors = append(tensors, prefixed(r.net.Tensors(), netPrefix)...)
	if r.Best != nil {
		tensors = append(tensors, prefixed(r.Best.Tensors(), bestPrefix)...)
	}
	if b := r.backup; b != nil {
		s.Backup = &savedBackup{Drift: b.drift, Fits: b.fits}
		tensors = append(tensors, prefixed(b.base.Tensors(), basePrefix)...)
	}
	if a := r.actor; a != nil {
		own, steps := a.trainer.State()
		s.Actor = &savedActor{Steps: steps, Fits: a.fits}
		tensors = append(tensors, prefixed(own, actorPrefix)...)
		tensors = append(tensors, prefixed(a.mean.Tensors(), meanPrefix)...)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := mlp.WriteTensors(&b, tensors, map[string]string{"run": string(text)}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return mlp.WriteFile(path, b.Bytes())
}

// Resume goes on with a saved run.
func Resume(g *task.Game, path string, workers int) (*Run, error) {
	data, err := mlp.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := resume(g, data, workers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func resume(g *task.Game, data []byte, workers int) (*Run, error) {
	tensors, meta, err := mlp.ParseTensors(data)
	if err != nil {
		return nil, err
	}
	var s saved
	if err := json.Unmarshal([]byte(meta["run"]), &s); err != nil {
		return nil, fmt.Errorf("not a saved run: %w", err)
	}
	if s.Game != g.Rules.Name || s.Rules != g.Rules.Rules {
		return nil, fmt.Errorf("a run of %s, rules version %d, not of %s, version %d", s.Game, s.Rules, g.Rules.Name, g.Rules.Rules)
	}
	r, err := create(g, s.Config, nil, workers)
	if err != nil {
		return nil, err
	}
	if err := r.restore(&s, tensors); err != nil {
		_ = r.Close() // the error that matters is the other one
		return nil, err
	}
	return r, nil
}

// restore fills in a new run of the saved configuration.
func (r *Run) restore(s *saved, tensors []mlp.Tensor) error {
	r.Counts, r.Curve = s.Counts, s.Curve
	if err := r.goBack(s.Backup, tensors); err != nil {
		return err
	}
	if err := r.trainer.SetState(tensors, s.Steps); err != nil {
		return err
	}
	best, err := net(tensors, bestPrefix, r.net)
	if err != nil {
		return err
	}
	now, err := net(tensors, netPrefix, r.net)
	if err != nil {
		return err
	}
	if now == nil {
		return errors.New("no weights of the net that plays")
	}
	r.Best, r.net = best, now
	if s.Actor != nil {
		if err := r.rehire(s.Actor, tensors); err != nil {
			return err
		}
	}
	if len(s.Slots) != len(r.slots) {
		return fmt.Errorf("%d games in progress, want %d", len(s.Slots), len(r.slots))
	}
	for i, x := range s.Slots {
		if err := r.slots[i].restore(x); err != nil {
			return fmt.Errorf("game %d: %w", i, err)
		}
	}
	return nil
}

func (s *slot) restore(x savedSlot) error {
	b, err := base64.StdEncoding.DecodeString(x.State)
	if err != nil {
		return err
	}
	if err := env.Decode(s.state, s.game.Rules.New(s.game.Rules.MinSeats), b); err != nil {
		return err
	}
	if s.rand.Word, err = strconv.ParseUint(x.Word, 16, 64); err != nil {
		return err
	}
	if len(x.Who) != len(s.who) {
		return fmt.Errorf("%d seats, want %d", len(x.Who), len(s.who))
	}
	copy(s.who[:], x.Who)
	return nil
}
