package selfplay

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/task"
)

// A State is a saved run: tensors, and a JSON object in the metadata "run" of their file.
type State struct {
	Tensors []mlp.Tensor
	values  map[string]json.RawMessage
}

// Put sets a value of the JSON object.
func (s *State) Put(name string, v any) error {
	data, err := json.Marshal(v)
	s.values[name] = data
	return err
}

// Get reads a value of the JSON object into v. It leaves v alone if there is none.
func (s *State) Get(name string, v any) error {
	if !s.Has(name) {
		return nil
	}
	if err := json.Unmarshal(s.values[name], v); err != nil {
		return fmt.Errorf("%q of the saved run: %w", name, err)
	}
	return nil
}

// Has reports whether there is a value of that name.
func (s *State) Has(name string) bool {
	return len(s.values[name]) > 0 && string(s.values[name]) != "null"
}

// savedSlot is a game in progress.
type savedSlot struct {
	State    string  `json:"state"` // env.Encode, in base64
	Word     string  `json:"word"`  // of the slot's generator
	Baseline []uint8 `json:"who,omitempty"`
	Age      int     `json:"age,omitempty"`
}

// Save writes the run as it stands between two steps. A run that Resume reads goes on as
// this one would have.
func (r *Run) Save(path string) error {
	s := &State{values: map[string]json.RawMessage{}}
	var slots []savedSlot
	for _, x := range r.Slots {
		saved, err := x.save()
		if err != nil {
			return err
		}
		slots = append(slots, saved)
	}
	errs := []error{r.Learner.Save(s)}
	if r.Best != nil {
		s.AddNet(bestPrefix, r.Best)
	}
	for name, v := range map[string]any{
		"game": r.Game.Rules.Name, "rules": r.Game.Rules.Rules, "config": r.algorithm.Config(),
		"counts": r.Counts, "curve": r.Curve, "losses": r.Losses, "slots": slots,
	} {
		errs = append(errs, s.Put(name, v))
	}
	text, err := json.Marshal(s.values)
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := mlp.WriteTensors(&b, s.Tensors, map[string]string{"run": string(text)}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return mlp.WriteFile(path, b.Bytes())
}

// Resume goes on with a saved run of an algorithm, whose settings it loads.
func Resume(g *task.Game, path string, a Algorithm, workers int) (*Run, error) {
	data, err := mlp.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := resume(g, data, a, workers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func resume(g *task.Game, data []byte, a Algorithm, workers int) (*Run, error) {
	s := &State{}
	var meta map[string]string
	var err error
	if s.Tensors, meta, err = mlp.ParseTensors(data); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(meta["run"]), &s.values); err != nil {
		return nil, fmt.Errorf("not a saved run: %w", err)
	}
	var game string
	var rules int
	if err := s.getAll(map[string]any{"game": &game, "rules": &rules}); err != nil {
		return nil, err
	}
	if game != g.Rules.Name || rules != g.Rules.Rules {
		return nil, fmt.Errorf("a run of %s, rules version %d; want %s, version %d",
			game, rules, g.Rules.Name, g.Rules.Rules)
	}
	if err := cmp.Or(s.Get("config", a.Config()), a.Check(g)); err != nil {
		return nil, err
	}
	r := newRun(g, a, workers)
	if err := r.restore(s); err != nil {
		return nil, err
	}
	if r.Learner, err = a.Restore(r, s); err != nil {
		return nil, err
	}
	return r, nil
}

func (s *State) getAll(into map[string]any) error {
	var errs []error
	for name, v := range into {
		errs = append(errs, s.Get(name, v))
	}
	return errors.Join(errs...)
}

// restore fills in all but the learner.
func (r *Run) restore(s *State) error {
	var slots []savedSlot
	old := struct { // the count of evaluations, as some states name it
		Seen uint64 `json:"seen"`
	}{}
	into := map[string]any{"counts": &r.Counts, "curve": &r.Curve, "losses": &r.Losses, "slots": &slots}
	err := s.Get("counts", &old)
	if err := errors.Join(err, s.getAll(into)); err != nil {
		return err
	}
	r.Counts.Visited += old.Seen
	if r.Best, err = s.Net(bestPrefix, r.Options.Sizes(r.Game)); err != nil {
		return err
	}
	if len(slots) != len(r.Slots) {
		return fmt.Errorf("%d games in progress, want %d", len(slots), len(r.Slots))
	}
	for i, x := range slots {
		if err := r.Slots[i].restore(x); err != nil {
			return fmt.Errorf("game %d: %w", i, err)
		}
	}
	return nil
}

func (s *Slot) save() (savedSlot, error) {
	b, err := env.Encode(nil, s.State)
	seats := make([]uint8, len(s.Baseline))
	for i, baseline := range s.Baseline {
		if baseline {
			seats[i] = 1
		}
	}
	return savedSlot{base64.StdEncoding.EncodeToString(b), strconv.FormatUint(s.Rand.Word, 16), seats, s.age}, err
}

func (s *Slot) restore(x savedSlot) error {
	b, err := base64.StdEncoding.DecodeString(x.State)
	if err != nil {
		return err
	}
	if err := env.Decode(s.State, s.game.Rules.New(s.game.Rules.MinSeats), b); err != nil {
		return err
	}
	if s.State.Acting() == 0 {
		return errors.New("the game is over, want one in progress")
	}
	if len(x.Baseline) > len(s.Baseline) {
		return fmt.Errorf("%d seats, want up to %d", len(x.Baseline), len(s.Baseline))
	}
	for i, v := range x.Baseline {
		s.Baseline[i] = v == 1
	}
	s.age = x.Age
	s.Rand.Word, err = strconv.ParseUint(x.Word, 16, 64)
	return err
}
