package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"blockyard/datasets/playback"
	"blockyard/datasets/record"
	"blockyard/env"
)

// notes are the lines below a frame: the actions from the position, or the final scores.
func notes(r *playback.Reel) []string {
	var out []string
	s, last := r.State(), r.Last()
	for seat := range r.Rec.Seats {
		who := fmt.Sprintf("seat %d (%s): ", seat+1, r.Rec.Agents[seat])
		switch {
		case last:
			out = append(out, fmt.Sprintf("%sscore %d, result %+g", who, s.Score(seat), s.Result(seat)))
		case !s.Acting().Has(seat):
			out = append(out, who+fmt.Sprintf("score %d", s.Score(seat)))
		case r.Moves()[seat] == env.None:
			out = append(out, who+fmt.Sprintf("score %d, no action", s.Score(seat)))
		default:
			out = append(out, who+fmt.Sprintf("score %d, plays %s", s.Score(seat), r.Game.Text(r.Moves()[seat])))
		}
	}
	if last && r.Rec.Stopped {
		out = append(out, "the game was stopped here")
	}
	if last && r.Err() != nil {
		out = append(out, "the record does not replay: "+r.Err().Error())
	}
	return out
}

// title names the game and the position.
func title(r *playback.Reel, name string) string {
	return fmt.Sprintf("%s  %s  %s  position %d of %d", name, r.Rec.Game, strings.Join(r.Rec.Agents, " – "), r.At(), r.Len()-1)
}

// find reads game n (from 1) of a file.
func find(file string, n int) (*record.Record, error) {
	r, err := record.Open(file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for i := 1; ; i++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s holds %d games, there is no game %d", file, i-1, n)
		}
		if err != nil || i == n {
			return rec, err
		}
	}
}
