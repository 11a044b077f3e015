package selfplay

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/mlp"
	"blockyard/datasets/program/disk"
	"blockyard/env"
	"blockyard/train/games"
)

// A State is a saved run: tensors, and other fields as JSON in the metadata "run", beside a checksum.
type State struct {
	Tensors []mlp.Tensor `json:"-"`

	Backup *BackupState `json:"backup,omitempty"` // nil if there is none at this time
	Config Algorithm    `json:"config"`
	Counts Counts       `json:"counts"`
	Curve  []Point      `json:"curve"`
	Game   string       `json:"game"`
	Kept   []int        `json:"kept,omitempty"` // lengths of the rollouts that are kept in tensors, by slot
	Rules  int          `json:"rules"`
	Slots  []GameSlot   `json:"slots"`
	Steps  int          `json:"steps"` // of the optimiser of the first or only net

	Recording  *RecordingState `json:"recording,omitempty"`  // of the games; nil if there is none
	Unverified []string        `json:"unverified,omitempty"` // as in Run

	Version int `json:"version"` // of this format
}

const stateVersion = 3 // what Save writes and Resume reads

// A BackupState is where a search backup stands between two fits.
type BackupState struct {
	Average float64 `json:"drift"` // of what a ply more changes
	Fits    int     `json:"fits"`
}

// A GameSlot is a slot between two rollouts: its game in progress and its generator.
type GameSlot struct {
	State    string  `json:"state"`         // env.Encode, in base64
	Word     string  `json:"word"`          // of the slot's generator
	Opponent []uint8 `json:"who,omitempty"` // as in Slot
	Age      int     `json:"age,omitempty"`
}

// Save writes the run as it stands between two steps. A run that Resume reads continues as this one would have.
func (r *Run) Save(path string) error {
	s := &State{
		Game: r.Game.Rules.Name, Rules: r.Game.Rules.Rules, Config: r.Settings, Version: stateVersion,
		Counts: r.Counts, Curve: r.Curve, Unverified: r.Unverified,
	}
	for _, x := range r.Slots {
		saved, err := x.Save()
		if err != nil {
			return err
		}
		s.Slots = append(s.Slots, saved)
	}
	r.Learner.Save(s)
	if err := r.saveGames(s); err != nil {
		return err
	}
	if r.Best != nil {
		s.Add(bestPrefix, r.Best.Tensors())
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := mlp.WriteTensors(&b, s.Tensors, map[string]string{"run": string(text), sumKey: noSum}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := Seal(b.Bytes()); err != nil {
		return err
	}
	return disk.WriteText(path, 0o644, b.String())
}

// Resume continues a saved run of an algorithm, whose settings it loads.
func Resume(g *games.Game, path string, a Algorithm, workers int) (*Run, error) {
	s, err := readState(g, path, a)
	if err != nil {
		return nil, err
	}
	var r *Run
	if err = a.Check(g); err == nil {
		r = newRun(g, a, workers)
		err = r.load(s)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Return makes the run what it was when it was saved at path, between two steps. After an error it is as before.
func (r *Run) Return(path string) error {
	settings := reflect.New(reflect.TypeOf(r.Settings).Elem()).Interface().(Algorithm) // r has the same
	s, err := readState(r.Game, path, settings)
	if err != nil {
		return err
	}
	before := *r
	*r = *newRun(r.Game, r.Settings, r.Workers)
	r.Remote, r.OnGate, r.now = before.Remote, before.OnGate, before.now
	r.Played, r.Fitted, r.undone = before.Played, before.Fitted, 1+before.Counts.Gated
	if err := r.load(s); err != nil {
		*r = before
		return fmt.Errorf("%s: %w", path, err)
	}
	return before.Learner.Close()
}

// readState reads a saved run of a game, and its settings into a.
func readState(g *games.Game, path string, a Algorithm) (_ *State, err error) {
	data, err := mlp.ReadFile(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	tensors, meta, err := mlp.ParseTensors(data)
	if err != nil {
		return nil, err
	}
	s := &State{Tensors: tensors, Config: a}
	if err := json.Unmarshal([]byte(meta["run"]), s); err != nil {
		return nil, fmt.Errorf("not a saved run: %w", err)
	}
	if at, sum := checksum(data); at < 0 || string(data[at:at+len(sum)]) != sum {
		return nil, errDamaged
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("a run in version %d of the format, this program reads version %d: "+
			"continue it with the program that saved it", s.Version, stateVersion)
	}
	if s.Game != g.Rules.Name || s.Rules != g.Rules.Rules {
		return nil, fmt.Errorf("a run of %s, rules version %d; want %s, version %d",
			s.Game, s.Rules, g.Rules.Name, g.Rules.Rules)
	}
	return s, nil
}

// load makes a run that was just created the saved one.
func (r *Run) load(s *State) (err error) {
	if err := r.restore(s); err != nil {
		return err
	}
	if r.Learner, err = r.Settings.Start(r, nil, s); err != nil {
		return err
	}
	return r.Learner.Restore(s)
}

// restore fills in all but the learner.
func (r *Run) restore(s *State) (err error) {
	r.Counts, r.Curve, r.Unverified = s.Counts, s.Curve, s.Unverified
	if len(s.Under(bestPrefix)) > 0 {
		if r.Best, err = s.Net(bestPrefix, len(r.Game.Features)); err != nil {
			return err
		}
	}
	if len(s.Slots) != len(r.Slots) {
		return fmt.Errorf("%d games in progress, want %d", len(s.Slots), len(r.Slots))
	}
	for i, x := range s.Slots {
		if err := r.Slots[i].restore(x); err != nil {
			return fmt.Errorf("game %d: %w", i, err)
		}
	}
	return r.restoreGames(s)
}

// Save returns where the slot stands between two rollouts, as text. Its notes are not part of it.
func (s *Slot) Save() (GameSlot, error) {
	b, err := env.Encode(nil, s.State)
	who := slices.Clone(s.Opponent[:])
	return GameSlot{base64.StdEncoding.EncodeToString(b), strconv.FormatUint(s.Rand.Word, 16), who, s.age}, err
}

func (s *Slot) restore(x GameSlot) error {
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
	if len(x.Opponent) > len(s.Opponent) {
		return fmt.Errorf("%d seats, want up to %d", len(x.Opponent), len(s.Opponent))
	}
	for seat, k := range x.Opponent {
		if int(k) > len(s.opponents) {
			return fmt.Errorf("seat %d is played by opponent %d, want 0 to %d: the run has the opponents %s",
				seat, k, len(s.opponents), strings.Join(s.opponents, ", "))
		}
	}
	s.Opponent = [env.MaxSeats]uint8{}
	copy(s.Opponent[:], x.Opponent)
	s.age = x.Age
	s.Rand.Word, err = strconv.ParseUint(x.Word, 16, 64)
	return err
}

// The names of a net's tensors in a state file begin with a prefix of its own.
const bestPrefix = "best."

// Add adds tensors to the state, with a prefix to their names.
func (s *State) Add(prefix string, tensors []mlp.Tensor) {
	for _, t := range tensors {
		t.Name = prefix + t.Name
		s.Tensors = append(s.Tensors, t)
	}
}

// Net reads the net under a prefix, with so many inputs, one output and any hidden layers.
func (s *State) Net(prefix string, inputs int) (*mlp.Net, error) {
	found := s.Under(prefix)
	if len(found) == 0 {
		return nil, fmt.Errorf("the saved run has no net %q", prefix)
	}
	n, err := mlp.Assemble(found)
	if err != nil {
		return nil, fmt.Errorf("the net %q: %w", prefix, err)
	}
	if n.In() != inputs || n.Out() != 1 {
		return nil, fmt.Errorf("the net %q has %d inputs and %d outputs, want %d and 1", prefix, n.In(), n.Out(), inputs)
	}
	return n, nil
}

// Under returns the tensors with a prefix, without the prefix in their names.
func (s *State) Under(prefix string) []mlp.Tensor {
	var all []mlp.Tensor
	for _, t := range s.Tensors {
		if name, ok := strings.CutPrefix(t.Name, prefix); ok {
			t.Name = name
			all = append(all, t)
		}
	}
	return all
}

// Named are tensors, to be taken apart by name. The first error stands for all: after it, Take returns nothing.
type Named struct {
	Tensors []mlp.Tensor
	Err     error
}

// Take returns a tensor of the given shape, whose first length may be -1 for any. An empty one may be missing.
func (n *Named) Take(name string, shape ...int) []float32 {
	var t mlp.Tensor
	i := slices.IndexFunc(n.Tensors, func(t mlp.Tensor) bool { return t.Name == name })
	if i >= 0 {
		t = n.Tensors[i]
	}
	if shape[0] < 0 {
		shape[0] = 0
		if len(t.Shape) > 0 {
			shape[0] = t.Shape[0]
		}
	}
	if i < 0 && slices.Contains(shape, 0) {
		return nil
	}
	if n.Err == nil && !slices.Equal(t.Shape, shape) {
		n.Err = fmt.Errorf("the tensor %q has the shape %v, want %v", name, t.Shape, shape)
	}
	if n.Err != nil {
		return nil
	}
	return t.Data
}

// sumKey has the SHA-256 of the file, with zeros in its own place, in hexadecimal.
const sumKey = "sha256"

var noSum = strings.Repeat("0", 2*sha256.Size)

var errDamaged = errors.New("the checksum does not match: the file was changed after the run was saved. " +
	"Resume from an unchanged copy, or start a new run")

// Seal writes the checksum of a state file into its place in the file.
func Seal(file []byte) error {
	at, sum := checksum(file)
	if at < 0 {
		return errors.New("not a saved run: no place for a checksum")
	}
	copy(file[at:], sum)
	return nil
}

// checksum returns where the checksum of a state file stands, and what it should be; -1 if the file has no place for
// one. The JSON of the run, which is text in the metadata, cannot contain the key: its quotes are escaped.
func checksum(file []byte) (at int, sum string) {
	key := []byte(`"` + sumKey + `":"`)
	if at = bytes.Index(file, key); at < 0 || at+len(key)+len(noSum) > len(file) {
		return -1, ""
	}
	at += len(key)
	h := sha256.New()
	h.Write(file[:at])
	h.Write([]byte(noSum))
	h.Write(file[at+len(noSum):])
	return at, hex.EncodeToString(h.Sum(nil))
}
