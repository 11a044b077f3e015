package games

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"blockyard/datasets/record"
	"blockyard/env"
)

// A Recording is the record of an episode in progress, one line of JSON.
type Recording struct {
	Game    int          `json:"game"` // its place in the handle
	Episode uint64       `json:"episode,string"`
	Seed    uint64       `json:"seed,string"`
	Agents  []string     `json:"agents"`
	Choices []env.Action `json:"choices"`
	Lost    bool         `json:"lost,omitempty"`
}

// AppendInProgress appends the record in progress of game i, which is not being stepped, if it has one.
func (r *Recorder) AppendInProgress(dst []byte, i int) ([]byte, error) {
	if r == nil || r.stopped || r.running[i] == nil {
		return dst, nil
	}
	d := r.running[i]
	line, err := json.Marshal(Recording{i, d.episode, d.rec.Seed, d.rec.Agents, d.rec.Choices, d.lost})
	return append(append(dst, line...), '\n'), err
}

// ReadInProgress reads the records in progress of some of the games in list, each with so many seats.
func ReadInProgress(lines []byte, list []int, seats int) (all []Recording, err error) {
	named := make(map[int]bool, len(list))
	for _, i := range list {
		named[i] = true
	}
	for from := json.NewDecoder(bytes.NewReader(lines)); ; {
		var d Recording
		err := from.Decode(&d)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		switch {
		case err != nil:
		case !named[d.Game]:
			err = fmt.Errorf("game %d is not resumed, or has two", d.Game)
		case len(d.Agents) != seats:
			err = fmt.Errorf("%d agents, want %d", len(d.Agents), seats)
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", len(all)+1, err)
		}
		named[d.Game] = false
		all = append(all, d)
	}
}

// Continue goes on with records of episodes in progress, whose games have just been resumed. trace has a game traced
// from here on, and reports whether it is.
func (r *Recorder) Continue(all []Recording, trace func(i int) bool) {
	for _, s := range all {
		d := &running{rec: *record.New(r.Game, s.Seed, s.Agents), episode: s.Episode, lost: s.Lost, size: runningSize}
		if !d.lost {
			d.rec.Choices = make([]env.Action, len(s.Choices), len(s.Choices)+firstChoices)
			copy(d.rec.Choices, s.Choices)
			d.size += 2 * int64(cap(d.rec.Choices))
		}
		if !r.hold(d.size) {
			r.drop(1)
			continue
		}
		r.running[s.Game] = d
		if !trace(s.Game) {
			r.free(d.size)
			r.running[s.Game] = nil
		}
	}
}
