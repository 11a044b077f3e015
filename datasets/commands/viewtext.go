package commands

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"blockyard/datasets/record"
	"blockyard/datasets/record/playback"
	"blockyard/datasets/viewer"
	"blockyard/env"
)

// notes are the lines below a frame: the actions from the position, or the final scores.
func notes(r *playback.Timeline) []string {
	var out []string
	s, last := r.State(), r.Last()
	for seat := range r.Rec.Seats {
		line := fmt.Sprintf("seat %d (%s): score %d", seat+1, r.Rec.Agents[seat], s.Score(seat))
		switch a := r.Moves()[seat]; {
		case last:
			line += fmt.Sprintf(", result %+g", s.Result(seat))
		case !s.Acting().Has(seat):
		case a == env.None:
			line += ", no action"
		default:
			line += ", plays " + r.Game.Text(a)
		}
		out = append(out, line)
	}
	if last && r.Rec.Stopped {
		out = append(out, "the game was stopped here")
	}
	if last && r.Err() != nil {
		out = append(out, "the record does not replay: "+r.Err().Error())
	}
	return out
}

// about returns the game of a timeline, who plays, and lines about the current turn, which was shown.
func about(r timeline) (game, players string, lines []string) {
	switch r := r.(type) {
	case *playback.Timeline:
		return r.Rec.Game, strings.Join(r.Rec.Agents, " – "), notes(r)
	case *viewer.History:
		return "dropblox", r.Program, r.Notes()
	}
	return "", "", nil
}

// find reads game n (from 1) of a file, of which it reads at most so many bytes.
func find(file string, n int, most int64) (*record.Record, error) {
	r, err := record.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.Limit(most, raise)
	for i := 1; ; i++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: no game %d, want 1 to %d", file, n, i-1)
		}
		if err != nil || i == n {
			return rec, err
		}
	}
}
