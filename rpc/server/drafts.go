package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/rpc/wire"
)

// A savedDraft is the record of an episode in progress, one line of JSON.
type savedDraft struct {
	Game    int          `json:"game"` // its place in the handle
	Episode uint64       `json:"episode,string"`
	Seed    uint64       `json:"seed,string"`
	Agents  []string     `json:"agents"`
	Choices []env.Action `json:"choices"`
	Lost    bool         `json:"lost,omitempty"`
}

// appendDraft appends the record in progress of game i, which is not being stepped, if it has one.
func (r *recorder) appendDraft(dst []byte, i int) ([]byte, error) {
	if r == nil || r.stopped || r.drafts[i] == nil {
		return dst, nil
	}
	d := r.drafts[i]
	line, err := json.Marshal(savedDraft{i, d.episode, d.rec.Seed, d.rec.Agents, d.rec.Choices, d.lost})
	return append(append(dst, line...), '\n'), err
}

// readDrafts reads the records in progress of some of the games in list.
func (h *handle) readDrafts(lines []byte, list []int) ([]savedDraft, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	if h.recorder == nil || h.recorder.stopped {
		return nil, wire.Errorf(wire.BadParams, "resume: drafts: handle %d is not being recorded: call record first", h.id)
	}
	named := make(map[int]bool, len(list))
	for _, i := range list {
		named[i] = true
	}
	var all []savedDraft
	for from := json.NewDecoder(bytes.NewReader(lines)); ; {
		var d savedDraft
		err := from.Decode(&d)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		switch {
		case err != nil:
		case !named[d.Game]:
			err = fmt.Errorf("game %d is not resumed, or has two", d.Game)
		case len(d.Agents) != h.c.Seats:
			err = fmt.Errorf("%d agents, want %d", len(d.Agents), h.c.Seats)
		}
		if err != nil {
			return nil, wire.Errorf(wire.BadParams, "resume: drafts, entry %d: %v", len(all)+1, err)
		}
		named[d.Game] = false
		all = append(all, d)
	}
}

// continueDrafts goes on with records of episodes in progress, whose games have just been resumed.
func (r *recorder) continueDrafts(all []savedDraft) {
	for _, s := range all {
		d := &draft{rec: *record.New(r.h.game, s.Seed, s.Agents), episode: s.Episode, lost: s.Lost, size: draftSize}
		if !d.lost {
			d.rec.Choices = make([]env.Action, len(s.Choices), len(s.Choices)+firstChoices)
			copy(d.rec.Choices, s.Choices)
			d.size += 2 * int64(cap(d.rec.Choices))
		}
		if !r.hold(d.size) {
			r.drop(1)
			continue
		}
		r.drafts[s.Game] = d
		if r.h.env.ContinueTrace(s.Game); !r.h.env.Traced(s.Game) {
			r.free(d.size)
			r.drafts[s.Game] = nil
		}
	}
}
