package blockbattlelog

import (
	"fmt"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// greatest is the largest counter a transcript may start from: nothing that is counted
// from there in a round overflows.
const greatest = 1 << 28

// checkSingle replays a single round of the classic engine from the position it gives.
func checkSingle(t *conform.Tally, rec *singleRecord) error {
	s, outs, err := rec.position()
	if err == nil {
		err = rec.Res.checkPlayers()
	}
	if err != nil {
		return fmt.Errorf("round %s: %w", id(rec.ID), err)
	}
	res := &rec.Res
	at := func(seat int) {
		t.At(func() string { return fmt.Sprintf("round %s, %s", id(rec.ID), player(seat)) })
		t.Note(fmt.Sprintf("piece %s, round %d, answer %q", rec.Piece, rec.Round, outs[seat]))
		t.Note("from " + rec.In[seat].Field)
	}
	var failed []blockbattle.Loss
	for i := range s.Sides {
		at(i)
		if fits := spawns(&s.Sides[i], int(s.Piece)); fits {
			conform.Given(t, "start", res.P[i].Start, field(&s.Sides[i], int(s.Piece)))
		} else {
			failed = append(failed, blockbattle.Loss{Phase: blockbattle.LostSpawn, Seat: i})
			conform.Given(t, "start", res.P[i].Start, field(&s.Sides[i], -1))
		}
	}
	if len(failed) > 0 {
		rec.failed(t, s, failed, at)
		return nil
	}
	var holes [2][][]int
	for i := range holes {
		if res.P[i].Holes != nil {
			holes[i] = *res.P[i].Holes
		}
	}
	start := *s
	p := play(s, outs, holes, 0)
	for i := range res.P {
		at(i)
		p.compare(t, i, &res.P[i])
	}
	t.At(func() string { return fmt.Sprintf("round %s", id(rec.ID)) })
	compareEnd(t, res, p.losses, p.winner)
	if rec.Document.given {
		compareDocument(t, &rec.Document, &start, outs, holes)
	}
	return nil
}

// failed compares a round that the spawn test ended: one loser leaves a winner, two none,
// under either rules.
func (rec *singleRecord) failed(t *conform.Tally, s *blockbattle.State, failed []blockbattle.Loss, at func(int)) {
	won := "none"
	if len(failed) == 1 {
		won = player(1 - failed[0].Seat)
	}
	for i := range rec.Res.P {
		at(i)
		piece := int(s.Piece)
		for _, l := range failed {
			if l.Seat == i {
				piece = -1
			}
		}
		conform.Given(t, "end", rec.Res.P[i].End, field(&s.Sides[i], piece))
		if rec.Res.P[i].Rest != nil {
			conform.Same(t, "the round was played", true, false)
		}
	}
	t.At(func() string { return fmt.Sprintf("round %s", id(rec.ID)) })
	compareEnd(t, &rec.Res, failed, won)
	if rec.Document.given {
		conform.Same(t, "document differs", rec.Document.differs, false)
	}
}

func (rec *singleRecord) position() (*blockbattle.State, [2]string, error) {
	var outs [2]string
	piece, err := pieceOf(rec.Piece)
	if err != nil {
		return nil, outs, err
	}
	if len(rec.In) != 2 {
		return nil, outs, fmt.Errorf("%d start states, want 2", len(rec.In))
	}
	if rec.Round < 1 || rec.Round > greatest {
		return nil, outs, fmt.Errorf("round number %d", rec.Round)
	}
	s := &blockbattle.State{Round: int32(rec.Round), Piece: uint8(piece), Rules: blockbattle.Classic, Winner: blockbattle.Nobody}
	for i := range rec.In {
		in := &rec.In[i]
		side, err := parseField(in.Field)
		if err != nil {
			return nil, outs, fmt.Errorf("%s: %w", player(i), err)
		}
		if in.Solid != nil && *in.Solid != int(side.Solid) {
			return nil, outs, fmt.Errorf("%s: %d solid rows, the board shows %d", player(i), *in.Solid, side.Solid)
		}
		for _, n := range []int{in.Pts, in.Combo, in.Skips} {
			if n < 0 || n > greatest {
				return nil, outs, fmt.Errorf("%s: points, combo or skips of %d", player(i), n)
			}
		}
		side.Points, side.Combo, side.Skips = int32(in.Pts), int32(in.Combo), int32(in.Skips)
		s.Sides[i], outs[i] = side, in.Out
	}
	return s, outs, nil
}
