package selfplay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"blockyard/agents/mlp"
	"blockyard/datasets/record"
	"blockyard/env"
)

// A recording appends the games of a run to a file, each exactly once whenever it is killed: a saved run holds those
// since the save before, and the file gets them afterwards. A resumed run looks which ones it has.
type recording struct {
	RecordingState
	games   []*record.Record // that ended since the last save, or that a saved run says may be missing in the file
	choices int              // in games, about
	out     *record.Writer   // nil: nothing is recorded now
	broken  error            // the file cannot be written; it may hold a part of games
}

// A RecordingState is a recording but for its games, which are records in a tensor.
type RecordingState struct {
	File  string `json:"file"`  // base name of the file
	At    int    `json:"at"`    // games in the file before those that may be missing
	Slots []int  `json:"slots"` // whose games in progress are recorded: the last ones of the tensor
}

const (
	gamesTensor = "record" // its numbers are the bytes of a file of records
	mostChoices = 1 << 20  // of games that are not in the file: then the run is saved
)

func (c *recording) add(rec *record.Record) {
	c.games = append(c.games, rec)
	c.choices += len(rec.Choices)
}

// RecordTo appends the games that end from now on to a file, but not those in progress that lack their beginning.
func (r *Run) RecordTo(path string) error {
	c, file := &r.recording, filepath.Base(path)
	if len(c.games) > 0 && file != c.File {
		return fmt.Errorf("%s: the last games of this run may be missing in %.80q: continue with --record and that file",
			path, c.File)
	}
	out, err := record.Append(path)
	if err != nil {
		return err
	}
	before := c.At
	if file != c.File {
		before = 0
	}
	n, missing, err := lookFor(c.games, path, before)
	if err != nil {
		return errors.Join(err, out.Close())
	}
	c.File, c.At, c.games, c.out = file, n, missing, out
	return nil
}

// lookFor returns how many games a file has, and those of games that are not among them after the first ones.
func lookFor(games []*record.Record, path string, after int) (n int, missing []*record.Record, err error) {
	in, err := record.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = in.Close() }() // it was only read from
	found := map[string]int{}
	for rec, err := range in.All() {
		if err != nil {
			return 0, nil, err
		}
		if n++; n > after && len(games) > 0 {
			found[text(rec)]++
		}
	}
	for _, rec := range games {
		if key := text(rec); found[key] > 0 {
			found[key]--
		} else {
			missing = append(missing, rec)
		}
	}
	return n, missing, nil
}

func text(rec *record.Record) string {
	b, _ := json.Marshal(rec) // it was read from JSON
	return string(b)
}

func (c *recording) flush() error {
	if c.out == nil || c.broken != nil || len(c.games) == 0 {
		return c.broken
	}
	var errs []error
	for _, rec := range c.games {
		errs = append(errs, c.out.Write(rec))
	}
	if c.broken = errors.Join(append(errs, c.out.Sync())...); c.broken == nil {
		c.At, c.games, c.choices = c.At+len(c.games), nil, 0
	}
	return c.broken
}

// saveGames adds the games that may be missing in the file and those in progress to a state.
func (r *Run) saveGames(s *State) error {
	c := &r.recording
	var b bytes.Buffer
	out := record.NewWriter(&b)
	var errs []error
	for _, rec := range c.games {
		errs = append(errs, out.Write(rec))
	}
	c.Slots = nil
	for i, x := range r.Slots {
		if x.record != nil {
			rec := *x.record
			rec.End(x.State) // as a game that was stopped
			errs = append(errs, out.Write(&rec))
			c.Slots = append(c.Slots, i)
		}
	}
	if err := errors.Join(append(errs, out.Close())...); err != nil || c.File == "" {
		return err
	}
	t := mlp.Tensor{Name: gamesTensor, Shape: []int{b.Len()}, Data: make([]float32, b.Len())}
	for i, v := range b.Bytes() {
		t.Data[i] = float32(v)
	}
	s.Tensors, s.Recording = append(s.Tensors, t), &c.RecordingState
	return nil
}

// restoreGames reads what saveGames wrote. Games in progress must lead to where their slots stand.
func (r *Run) restoreGames(s *State) error {
	if s.Recording == nil {
		return nil
	}
	c := &r.recording
	c.RecordingState = *s.Recording
	if c.File != filepath.Base(c.File) || c.At < 0 || !fs.ValidPath(c.File) {
		return fmt.Errorf("games recorded in %.80q from game %d on: out of range", c.File, c.At)
	}
	named := Named{Tensors: s.Tensors}
	numbers := named.Take(gamesTensor, -1)
	b := make([]byte, len(numbers))
	for i, v := range numbers {
		if !(v >= 0 && v <= 255) {
			return fmt.Errorf("the tensor %q holds %v, want 0 to 255", gamesTensor, v)
		}
		b[i] = byte(v)
	}
	in, err := record.NewReader(gamesTensor, bytes.NewReader(b))
	if err = errors.Join(err, named.Err); err != nil {
		return err
	}
	in.Limit(int64(max(1, len(b))), "it is compressed")
	for rec, err := range in.All() {
		if err != nil {
			return err
		}
		c.add(rec)
	}
	n := len(c.games) - len(c.Slots)
	if n < 0 {
		return fmt.Errorf("the tensor %q holds %d games, want those of %d slots", gamesTensor, len(c.games), len(c.Slots))
	}
	for k, rec := range c.games[n:] {
		i := c.Slots[k]
		if i < 0 || i >= len(r.Slots) {
			return fmt.Errorf("the game of slot %d is recorded, want 0 to %d", i, len(r.Slots)-1)
		}
		if err := r.Slots[i].continues(rec); err != nil {
			return fmt.Errorf("game %d: its record: %w", i, err)
		}
	}
	c.games = c.games[:n]
	return nil
}

// continues makes rec the record of the slot's game if it leads to where the slot stands.
func (s *Slot) continues(rec *record.Record) error {
	replay := record.NewReplay(s.game.Rules, rec)
	for range replay.All() {
	}
	if err := replay.Err(); err != nil {
		return err
	}
	var stands [2][]byte
	for k, state := range []env.State{s.State, replay.State()} {
		x := s.game.Rules.New(s.game.Rules.MinSeats)
		x.CopyFrom(state)
		x.Force(make([]uint16, env.MaxDraws)) // whatever older steps have left behind the draws of the last one
		var err error
		if stands[k], err = env.Encode(nil, x); err != nil {
			return err
		}
	}
	if !bytes.Equal(stands[0], stands[1]) {
		return errors.New("it leads to another position")
	}
	rec.Scores, rec.Results, rec.Stopped = nil, nil, false
	s.record = rec
	return nil
}
