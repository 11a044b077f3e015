package single

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/task"
)

// saved is a run but for its tensors: the metadata "run" of a state file.
type saved struct {
	Game   string      `json:"game"`
	Rules  int         `json:"rules"`
	Config Config      `json:"config"`
	Counts Counts      `json:"counts"`
	Curve  []Point     `json:"curve"`
	Steps  int         `json:"steps"` // of the optimiser
	Slots  []savedSlot `json:"slots"`
	Kept   []int       `json:"kept,omitempty"` // steps of each stretch that is learnt from again
}

// savedSlot is a game in progress.
type savedSlot struct {
	State string `json:"state"` // env.Encode, in base64
	Word  string `json:"word"`  // of the slot's generator
	Age   int    `json:"age"`
}

// Nets in a state file are told apart by what their tensors' names begin with.
const (
	meanPrefix = "mean."
	bestPrefix = "best."
)

// Save writes the run as it stands between two steps. A run that Resume reads goes on as
// this one would have.
func (r *Run) Save(path string) error {
	tensors, steps := r.trainer.State()
	s := saved{r.Game.Rules.Name, r.Game.Rules.Rules, r.Config, r.Counts, r.Curve, steps, nil, nil}
	for _, x := range r.slots {
		b, err := env.Encode(nil, x.state)
		if err != nil {
			return err
		}
		s.Slots = append(s.Slots, savedSlot{base64.StdEncoding.EncodeToString(b), strconv.FormatUint(x.rand.Word, 16), x.age})
	}
	tensors = append(tensors, prefixed(r.mean, meanPrefix)...)
	if r.Best != nil {
		tensors = append(tensors, prefixed(r.Best, bestPrefix)...)
	}
	again := r.kept[len(r.kept)-min(len(r.kept), (r.Config.Keep-1)*r.Config.Games):]
	if len(again) > 0 {
		var more []mlp.Tensor
		more, s.Kept = packed(again, len(r.Game.Features))
		tensors = append(tensors, more...)
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
	r, err := New(g, s.Config, nil, workers)
	if err != nil {
		return nil, err
	}
	if err := r.restore(&s, tensors); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// restore fills in a new run of the saved configuration.
func (r *Run) restore(s *saved, tensors []mlp.Tensor) error {
	r.Counts, r.Curve = s.Counts, s.Curve
	like := r.net
	err := r.trainer.SetState(tensors, s.Steps)
	if err != nil {
		return err
	}
	if r.net, err = r.trainer.Net(); err != nil {
		return err
	}
	if r.mean, err = netOf(tensors, meanPrefix, like); err != nil {
		return err
	}
	if len(s.Curve) > 0 {
		if r.Best, err = netOf(tensors, bestPrefix, like); err != nil {
			return err
		}
	}
	if len(s.Slots) != len(r.slots) {
		return fmt.Errorf("%d games in progress, want %d", len(s.Slots), len(r.slots))
	}
	if r.kept, err = unpacked(tensors, s.Kept, len(r.Game.Features)); err != nil {
		return err
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
	if err := env.Decode(s.state, s.game.Solo.Rules.New(1), b); err != nil {
		return err
	}
	if s.state.Acting() == 0 {
		return errors.New("it is over")
	}
	s.age = x.Age
	s.rand.Word, err = strconv.ParseUint(x.Word, 16, 64)
	return err
}

func prefixed(n *mlp.Net, prefix string) []mlp.Tensor {
	all := n.Tensors()
	for i := range all {
		all[i].Name = prefix + all[i].Name
	}
	return all
}

// netOf reads the net whose tensors' names begin with prefix, of the shape of like.
func netOf(tensors []mlp.Tensor, prefix string, like *mlp.Net) (*mlp.Net, error) {
	found := map[string]mlp.Tensor{}
	for _, t := range tensors {
		if name, ok := strings.CutPrefix(t.Name, prefix); ok {
			found[name] = t
		}
	}
	n, err := mlp.Assemble(found)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", prefix, err)
	}
	have, want := n.Layers(), like.Layers()
	for i := range want {
		if len(have) != len(want) || have[i].In != want[i].In || have[i].Out != want[i].Out {
			return nil, fmt.Errorf("%s: a net of other sizes", prefix)
		}
	}
	return n, nil
}
