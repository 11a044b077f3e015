package commands

import (
	"fmt"

	"blockyard/datasets/record/playback"
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
