package blockbattlelog

import (
	"fmt"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// game replays a whole game.
type game struct {
	t       *conform.Tally
	rec     *gameRecord
	s       *blockbattle.State
	spawn   []blockbattle.Loss // of the round to come
	parted  bool               // the published rules and the engine's have parted
	partRnd int                // where
	why     []string
}

func checkGame(t *conform.Tally, rec *gameRecord) error {
	g := &game{t: t, rec: rec, s: &blockbattle.State{Winner: blockbattle.Nobody}}
	switch rec.Rules {
	case "classic":
		g.s.Rules = blockbattle.Classic
	case "port":
		g.s.Rules = blockbattle.Port
	default:
		return fmt.Errorf("game %s: rules %q, want classic or port", id(rec.ID), rec.Rules)
	}
	if len(rec.Rounds) == 0 {
		return fmt.Errorf("game %s: no rounds", id(rec.ID))
	}
	for i := range rec.Rounds {
		if err := rec.Rounds[i].check(); err != nil {
			return fmt.Errorf("game %s: %w", id(rec.ID), err)
		}
	}
	g.replay()
	g.whole()
	return nil
}

func (g *game) replay() {
	for i := range g.rec.Rounds {
		r := &g.rec.Rounds[i]
		g.t.At(func() string { return fmt.Sprintf("game %s, round %d", id(g.rec.ID), r.Round) })
		if g.s.Over && len(g.spawn) == 0 {
			conform.Same(g.t, "the game goes on", true, false)
			return
		}
		conform.Same(g.t, "round", r.Round, i+1)
		piece, _ := pieceOf(r.Piece)
		next, _ := pieceOf(r.Next)
		if i > 0 {
			conform.Same(g.t, "piece", r.Piece, g.rec.Rounds[i-1].Next)
		}
		g.s.Round, g.s.Piece, g.s.Next = int32(i+1), uint8(piece), uint8(next)
		g.starts(r)
		if g.s.Over {
			g.lostAtSpawn(r)
			g.spawn = nil
			continue
		}
		if r.P[0].Out == nil || r.P[1].Out == nil {
			conform.Same(g.t, "the round was played", false, true)
			return
		}
		g.round(i)
	}
}

// at names a player's part of a round as the place of what is compared next.
func (g *game) at(r *roundRecord, seat int) {
	g.t.At(func() string { return fmt.Sprintf("game %s, round %d, %s", id(g.rec.ID), r.Round, player(seat)) })
	if out := r.P[seat].Out; out != nil {
		g.t.Note(fmt.Sprintf("piece %s, answer %q", r.Piece, *out))
	}
}

// starts compares what the updates of a round tell.
func (g *game) starts(r *roundRecord) {
	for i := range r.P {
		g.at(r, i)
		p, side := &r.P[i], &g.s.Sides[i]
		conform.Given(g.t, "start", p.Start, g.board(i))
		conform.Given(g.t, "pos", p.Pos, fmt.Sprintf("%d,-1", corner(int(g.s.Piece))))
		conform.Given(g.t, "pts0", p.Pts0, int(side.Points))
		conform.Given(g.t, "combo0", p.Combo0, int(side.Combo))
		conform.Given(g.t, "skips0", p.Skips0, int(side.Skips))
	}
}

// board is a side's board at the start of a round, with its piece unless it failed to spawn.
func (g *game) board(seat int) string {
	for _, l := range g.spawn {
		if l.Seat == seat {
			return field(&g.s.Sides[seat], -1)
		}
	}
	return field(&g.s.Sides[seat], int(g.s.Piece))
}

// lostAtSpawn compares a round that the spawn test ended.
func (g *game) lostAtSpawn(r *roundRecord) {
	for i := range r.P {
		g.at(r, i)
		conform.Given(g.t, "end", r.P[i].End, g.board(i))
		if r.P[i].Out != nil {
			conform.Same(g.t, "the round was played", true, false)
		}
	}
	compareEnd(g.t, r, g.spawn, winnerOf(g.s))
}

func (g *game) round(i int) {
	r := &g.rec.Rounds[i]
	outs := [2]string{*r.P[0].Out, *r.P[1].Out}
	var holes [2][][]int
	for seat := range holes {
		if r.P[seat].Holes != nil {
			holes[seat] = *r.P[seat].Holes
		}
	}
	next, err := 0, error(nil)
	if i+1 < len(g.rec.Rounds) {
		next, err = pieceOf(g.rec.Rounds[i+1].Next)
	}
	if err != nil {
		next = 0
	}
	g.document(i+1, outs, holes, next)
	p := play(g.s, outs, holes, next)
	g.spawn = p.spawn
	for seat := range r.P {
		g.at(r, seat)
		p.compare(g.t, seat, &r.P[seat])
	}
	g.t.At(func() string { return fmt.Sprintf("game %s, round %d", id(g.rec.ID), r.Round) })
	compareEnd(g.t, r, p.losses, p.winner)
}

// document finds the first round that the published rules would have played otherwise.
func (g *game) document(round int, outs [2]string, holes [2][][]int, next int) {
	if g.parted || g.s.Rules != blockbattle.Classic {
		return
	}
	if why := switches(g.s, outs, holes, next); why != nil {
		g.parted, g.partRnd, g.why = true, round, why
	}
}

// whole compares what the transcript says of the game as a whole.
func (g *game) whole() {
	rec, rounds := g.rec, g.rec.Rounds
	g.t.At(func() string { return "game " + id(rec.ID) })
	if len(g.spawn) > 0 {
		conform.Same(g.t, "the last round leaves room for the next piece", true, false)
	}
	conform.Given(g.t, "nrounds", rec.NRounds, len(rounds))
	if rec.Winner.given {
		conform.Same(g.t, "winner", rec.Winner.name, winnerOf(g.s))
	}
	pieces := rounds[0].Piece
	for i := range rounds {
		pieces += rounds[i].Next
	}
	conform.Given(g.t, "pieces", rec.Pieces, pieces)
	if rec.Document.given && g.s.Rules == blockbattle.Classic {
		g.t.At(func() string { return fmt.Sprintf("game %s, document_differs", id(rec.ID)) })
		recorded := 0
		if rec.Document.Round != nil {
			recorded = *rec.Document.Round
		}
		conform.Same(g.t, "round (0: nowhere)", recorded, g.partRnd)
		conform.Same(g.t, "why", sorted(rec.Document.Why), sorted(g.why))
	}
	if rec.Seed != nil && g.s.Rules == blockbattle.Port {
		g.dealt(*rec.Seed)
	}
}
