package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"blockyard/datasets/record"
	"blockyard/env"
)

// markEvery is how many positions lie between two that a reel keeps.
const markEvery = 64

// A reel is a recorded game that can be wound to any of its positions.
type reel struct {
	game  *env.Game
	rec   *record.Record
	moves []env.Moves // joint moves, one fewer than there are positions
	marks []env.State // positions 0, 64, 128, …
	state env.State
	at    int
	err   error // why the replay, or its end, is not as recorded
}

func newReel(g *env.Game, rec *record.Record) (*reel, error) {
	r := &reel{game: g, rec: rec}
	rp := record.NewReplay(g, rec)
	positions := 0
	for s, m := range rp.All() {
		if positions%markEvery == 0 {
			mark := g.New(rec.Seats)
			mark.CopyFrom(s)
			r.marks = append(r.marks, mark)
		}
		positions++
		r.moves = append(r.moves, m)
	}
	if r.err = rp.Err(); positions == 0 {
		return nil, r.err
	}
	if r.err == nil {
		r.moves = r.moves[:positions-1]
		r.err = record.Check(g, rec)
	} else {
		r.moves = r.moves[:positions-1]
	}
	r.state = g.New(rec.Seats)
	r.seek(0)
	return r, nil
}

// len is how many positions there are.
func (r *reel) len() int { return len(r.moves) + 1 }

// seek winds to position n, or the nearest there is.
func (r *reel) seek(n int) {
	n = max(0, min(n, len(r.moves)))
	mark := n / markEvery
	r.state.CopyFrom(r.marks[mark])
	r.at = mark * markEvery
	for ; r.at < n; r.at++ {
		// The draws of a game dealt elsewhere are forced again.
		if d := r.at + 1; d < len(r.rec.Draws) {
			r.state.Force(r.rec.Draws[d])
		}
		r.state.Step(r.moves[r.at])
	}
}

// notes are the lines under a frame: the choices made in the position, scores at the end.
func (r *reel) notes() []string {
	var out []string
	last := r.at == len(r.moves)
	for seat := range r.rec.Seats {
		who := fmt.Sprintf("seat %d (%s): ", seat+1, r.rec.Agents[seat])
		switch {
		case last:
			out = append(out, fmt.Sprintf("%sscore %d, result %+g", who, r.state.Score(seat), r.state.Result(seat)))
		case !r.state.Acting().Has(seat):
			out = append(out, who+fmt.Sprintf("score %d", r.state.Score(seat)))
		case r.moves[r.at][seat] == env.None:
			out = append(out, who+fmt.Sprintf("score %d, no choice", r.state.Score(seat)))
		default:
			out = append(out, who+fmt.Sprintf("score %d, plays %s", r.state.Score(seat), r.game.Text(r.moves[r.at][seat])))
		}
	}
	if last && r.rec.Stopped {
		out = append(out, "the game was broken off here")
	}
	if last && r.err != nil {
		out = append(out, "the record does not hold: "+r.err.Error())
	}
	return out
}

// title says which game this is and where in it we are.
func (r *reel) title(name string) string {
	return fmt.Sprintf("%s  %s  %s  position %d of %d", name, r.rec.Game, strings.Join(r.rec.Agents, " – "), r.at, len(r.moves))
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
