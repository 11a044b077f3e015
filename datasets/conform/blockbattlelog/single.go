package blockbattlelog

import (
	"fmt"
	"slices"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// greatest is the largest counter in a start position, with which none overflows in a round.
const greatest = 1 << 28

// checkSingle replays a single round of the classic engine from the position in the record.
func checkSingle(t *conform.Tally, v conform.Values, rec *singleRecord) {
	s, outs, err := rec.position()
	if err == nil {
		err = rec.Res.checkPlayers()
	}
	if err != nil {
		conform.Malformed("round %s: %w", id(rec.ID), err)
	}
	if rec.Document != nil && len(rec.Document.P) != 2 {
		conform.Malformed("round %s: document: %d players, want 2", id(rec.ID), len(rec.Document.P))
	}
	res := &rec.Res
	at := func(seat int) {
		t.At("round %s, %s", id(rec.ID), player(seat))
		t.Note(fmt.Sprintf("piece %s, round %d, answer %q", rec.Piece, rec.Round, outs[seat]))
		t.Note("from " + rec.In[seat].Field)
	}
	var failed []blockbattle.Loss
	for i := range s.Sides {
		if s.Sides[i].SpawnHits(int(s.Piece)) {
			failed = append(failed, blockbattle.Loss{Phase: blockbattle.LostSpawn, Seat: i})
		}
	}
	for i := range s.Sides {
		at(i)
		res.P[i].Given(t, "start", startField(&s.Sides[i], int(s.Piece), i, failed))
	}
	if len(failed) > 0 { // the same by the published rules
		won := "none"
		if len(failed) == 1 {
			won = player(1 - failed[0].Seat)
		}
		compareSpawnLoss(t, res, s, failed, at)
		t.At("round %s", id(rec.ID))
		compareEnd(t, res, failed, won)
		if v.Has("document") {
			conform.Same(t, "document differs", rec.Document != nil, false)
		}
		return
	}
	start, in := *s, &inputs{outs: outs, holes: res.holes()}
	p := play(s, in)
	for i := range res.P {
		at(i)
		p.compare(t, i, &res.P[i])
	}
	t.At("round %s", id(rec.ID))
	compareEnd(t, res, p.losses, p.winner)
	if v.Has("document") {
		compareDocument(t, rec.Document, &start, in)
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
		return nil, outs, fmt.Errorf("round number %d, want 1 to %d", rec.Round, greatest)
	}
	s := &blockbattle.State{
		Round: int32(rec.Round), Piece: uint8(piece), Rules: blockbattle.Classic, Winner: blockbattle.Nobody,
	}
	for i := range rec.In {
		in := &rec.In[i]
		side, err := parseField(in.Field)
		if err != nil {
			return nil, outs, fmt.Errorf("%s: %w", player(i), err)
		}
		if in.Solid != nil && *in.Solid != int(side.Solid) {
			return nil, outs, fmt.Errorf("%s: %d solid rows, but %d on the board", player(i), *in.Solid, side.Solid)
		}
		for _, n := range []int{in.Pts, in.Combo, in.Skips} {
			if n < 0 || n > greatest {
				return nil, outs, fmt.Errorf("%s: points, combo or skips of %d, want 0 to %d", player(i), n, greatest)
			}
		}
		side.Points, side.Combo, side.Skips = int32(in.Pts), int32(in.Combo), int32(in.Skips)
		s.Sides[i], outs[i] = side, in.Out
	}
	return s, outs, nil
}

func under(rules blockbattle.Rules, s *blockbattle.State, in *inputs) *played {
	other := *s
	other.Rules = rules
	return play(&other, in)
}

// outcome describes everything in a round that the switches of the rules can change.
func (p *played) outcome() string {
	out := p.winner + lossText(p.losses)
	for i, after := range p.after {
		after.Lost = blockbattle.NotLost // the losses have it; here it includes the next spawn test
		rep := &p.rep.Sides[i]
		out += fmt.Sprint(p.lands[i].TSpin, p.lands[i].Skipped, rep.Gain, rep.Lines, after)
	}
	return out
}

// oneSwitch has the names of the switches, and the classic engine's rules with one switch as published.
var oneSwitch = []struct {
	name  string
	rules blockbattle.Rules
}{
	{"T_NET_TURN", blockbattle.Classic | blockbattle.NetTurn},
	{"T_LATE_TOKEN", blockbattle.Classic &^ blockbattle.LateToken},
	{"PC_NEEDS_CLEAR", blockbattle.Classic | blockbattle.PCNeedsClear},
	{"DRAW_BY_SET", blockbattle.Classic | blockbattle.DrawBySet},
}

// switches names the switches that change this round of a classic game; nil if the published rules do not.
func switches(s *blockbattle.State, in *inputs) []string {
	classic := under(blockbattle.Classic, s, in).outcome()
	if classic == under(blockbattle.Document, s, in).outcome() {
		return nil
	}
	why := []string{}
	for _, one := range oneSwitch {
		if under(one.rules, s, in).outcome() != classic {
			why = append(why, one.name)
		}
	}
	return why
}

func sorted(names []string) string {
	return strings.Join(slices.Sorted(slices.Values(names)), " ")
}

// compareDocument compares what the transcript of a single round says about the published rules.
func compareDocument(t *conform.Tally, d *roundRecord, s *blockbattle.State, in *inputs) {
	defer t.Under("document ")()
	why := switches(s, in)
	conform.Same(t, "differs", d != nil, why != nil)
	if d == nil {
		return
	}
	if d.Why != nil {
		conform.Same(t, "why", sorted(d.Why), sorted(why))
	}
	p := under(blockbattle.Document, s, in)
	sameWinner(t, d.Values, p.winner)
	for i := range d.P {
		t.Under("document " + player(i) + " ")
		p.compare(t, i, &d.P[i])
	}
}
