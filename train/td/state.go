package td

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/valuenet"
	"blockyard/env"
	"blockyard/train/learn"
)

// saved is a run but for its tensors: the metadata "run" of a state file.
type saved struct {
	Game   string      `json:"game"`
	Rules  int         `json:"rules"`
	Config Config      `json:"config"`
	Counts Counts      `json:"counts"`
	Curve  []Point     `json:"curve"`
	Steps  int         `json:"steps"` // of the optimiser
	Actor  *savedActor `json:"actor,omitempty"`
	Slots  []savedSlot `json:"slots"`
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
	if err := valuenet.WriteTensors(&b, tensors, map[string]string{"run": string(text)}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return valuenet.WriteFile(path, b.Bytes())
}

// Nets in a state file are told apart by what their tensors' names begin with.
const (
	bestPrefix  = "best."
	netPrefix   = "net."
	actorPrefix = "actor."
	meanPrefix  = "actor mean."
)

func prefixed(all []valuenet.Tensor, prefix string) []valuenet.Tensor {
	for i := range all {
		all[i].Name = prefix + all[i].Name
	}
	return all
}

// net reads the net whose tensors' names begin with prefix, of the shape of like; it is
// nil if there is none.
func net(tensors []valuenet.Tensor, prefix string, like *valuenet.Net) (*valuenet.Net, error) {
	found := map[string]valuenet.Tensor{}
	for _, t := range tensors {
		if name, ok := strings.CutPrefix(t.Name, prefix); ok {
			found[name] = t
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	n, err := valuenet.Assemble(found)
	if err != nil {
		return nil, err
	}
	want := like.Tensors()
	for i, t := range n.Tensors() {
		if i >= len(want) || !slices.Equal(t.Shape, want[i].Shape) {
			return nil, fmt.Errorf("%s%s has shape %v, which does not fit", prefix, t.Name, t.Shape)
		}
	}
	return n, nil
}

// Resume goes on with a saved run.
func Resume(g *learn.Game, path string, workers int) (*Run, error) {
	data, err := valuenet.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := resume(g, data, workers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func resume(g *learn.Game, data []byte, workers int) (*Run, error) {
	tensors, meta, err := valuenet.ParseTensors(data)
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
	r, err := New(g, s.Config, nil, workers)
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
func (r *Run) restore(s *saved, tensors []valuenet.Tensor) error {
	r.Counts, r.Curve = s.Counts, s.Curve
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

// rehire goes on with a saved actor.
func (r *Run) rehire(s *savedActor, tensors []valuenet.Tensor) error {
	m, err := net(tensors, meanPrefix, r.net)
	if err != nil {
		return err
	}
	if m == nil || r.Config.Actor == 0 {
		return errors.New("an actor without weights, or in a run without one")
	}
	var own []valuenet.Tensor
	for _, t := range tensors {
		if name, ok := strings.CutPrefix(t.Name, actorPrefix); ok {
			t.Name = name
			own = append(own, t)
		}
	}
	if err := r.hire(m); err != nil {
		return err
	}
	if err := r.actor.trainer.SetState(own, s.Steps); err != nil {
		return fmt.Errorf("the actor: %w", err)
	}
	r.actor.fits = s.Fits
	r.actor.net, err = r.actor.trainer.Net()
	return err
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
