package blockbattlelog

import (
	"fmt"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// A game is the replay of a whole game, whose rounds are compared one by one.
type game struct {
	t     *conform.Tally
	v     conform.Values
	rec   *gameRecord
	s     *blockbattle.State
	spawn []blockbattle.Loss // in the spawn test of the next round

	// The first round whose outcome by the published rules is another one, or 0, and the switches that change it.
	differs int
	why     []string
}

func checkGame(t *conform.Tally, v conform.Values, rec *gameRecord) {
	g := &game{t: t, v: v, rec: rec, s: &blockbattle.State{Winner: blockbattle.Nobody}}
	var ok bool
	if g.s.Rules, ok = engines[rec.Rules]; !ok {
		conform.Malformed("game %s: rules %q, want classic or port", id(rec.ID), rec.Rules)
	}
	if len(rec.Rounds) == 0 {
		conform.Malformed("game %s: no rounds, want at least one", id(rec.ID))
	}
	for i := range rec.Rounds {
		if err := rec.Rounds[i].check(); err != nil {
			conform.Malformed("game %s: %w", id(rec.ID), err)
		}
	}
	g.replay()
	g.whole()
}

func (g *game) replay() {
	for i := range g.rec.Rounds {
		r := &g.rec.Rounds[i]
		g.t.At("game %s, round %d", id(g.rec.ID), r.Round)
		if g.s.Over && len(g.spawn) == 0 {
			conform.Same(g.t, "the game goes on", true, false)
			return
		}
		conform.Same(g.t, "round", r.Round, i+1)
		if i > 0 {
			conform.Same(g.t, "piece", r.Piece, g.rec.Rounds[i-1].Next)
		}
		g.s.Round, g.s.Piece, g.s.Next = int32(i+1), uint8(r.piece), uint8(r.next)
		g.starts(r)
		if g.s.Over {
			compareSpawnLoss(g.t, r, g.s, g.spawn, func(seat int) { g.at(r, seat) })
			compareEnd(g.t, r, g.spawn, winnerOf(g.s))
			g.spawn = nil
			continue
		}
		if !r.played() {
			conform.Same(g.t, "the round was played", false, true)
			return
		}
		g.round(i)
	}
}

func (g *game) at(r *roundRecord, seat int) {
	g.t.At("game %s, round %d, %s", id(g.rec.ID), r.Round, player(seat))
	if out := r.P[seat].Out; out != nil {
		g.t.Note(fmt.Sprintf("piece %s, answer %q", r.Piece, *out))
	}
}

func (g *game) starts(r *roundRecord) {
	for i := range r.P {
		g.at(r, i)
		p, side := &r.P[i], &g.s.Sides[i]
		p.Given(g.t,
			"start", startField(side, int(g.s.Piece), i, g.spawn),
			"pos", fmt.Sprintf("%d,-1", blockbattle.SpawnX(int(g.s.Piece))), "pts0", int(side.Points),
			"combo0", int(side.Combo), "skips0", int(side.Skips))
	}
}

func (g *game) round(i int) {
	r := &g.rec.Rounds[i]
	in := &inputs{outs: [2]string{*r.P[0].Out, *r.P[1].Out}, holes: r.holes()}
	if i+1 < len(g.rec.Rounds) {
		in.next = g.rec.Rounds[i+1].next
	}
	if g.differs == 0 && g.s.Rules == blockbattle.Classic {
		if g.why = switches(g.s, in); g.why != nil {
			g.differs = i + 1
		}
	}
	p := play(g.s, in)
	g.spawn = p.spawn
	for seat := range r.P {
		g.at(r, seat)
		p.compare(g.t, seat, &r.P[seat])
	}
	g.t.At("game %s, round %d", id(g.rec.ID), r.Round)
	compareEnd(g.t, r, p.losses, p.winner)
}

func (g *game) whole() {
	rec, rounds := g.rec, g.rec.Rounds
	g.t.At("game %s", id(rec.ID))
	if len(g.spawn) > 0 {
		conform.Same(g.t, "the last round leaves room for the next piece", true, false)
	}
	g.v.Given(g.t, "nrounds", len(rounds))
	sameWinner(g.t, g.v, winnerOf(g.s))
	pieces := rounds[0].Piece
	for i := range rounds {
		pieces += rounds[i].Next
	}
	g.v.Given(g.t, "pieces", pieces)
	if g.v.Has("document_differs") && g.s.Rules == blockbattle.Classic {
		g.t.At("game %s, document_differs", id(rec.ID))
		conform.Same(g.t, "round (0: nowhere)", rec.Document.Round, g.differs)
		conform.Same(g.t, "why", sorted(rec.Document.Why), sorted(g.why))
	}
	if rec.Seed != nil && g.s.Rules == blockbattle.Port {
		g.dealt(*rec.Seed)
	}
}

// dealt compares the game's pieces and holes with those that its seed generates.
func (g *game) dealt(seed string) {
	s := blockbattle.NewPortStream(seed)
	piece := func() string { return blockbattle.Letters[s.Piece():][:1] }
	g.t.At("game %s, dealt from its seed", id(g.rec.ID))
	conform.Same(g.t, "first piece", g.rec.Rounds[0].Piece, piece())
	for i := range g.rec.Rounds {
		r := &g.rec.Rounds[i]
		g.t.At("game %s, round %d, dealt from its seed", id(g.rec.ID), r.Round)
		conform.Same(g.t, "next", r.Next, piece())
		for seat := range r.P {
			if r.P[seat].Holes == nil {
				continue
			}
			var dealt [][]int
			for _, row := range r.P[seat].Holes {
				draws := s.Row(nil, len(row) == 2)
				holes := []int{int(draws[0])}
				for _, d := range draws[1:] {
					holes = append(holes, (holes[0]+1+int(d))%blockbattle.Width)
				}
				dealt = append(dealt, holes)
			}
			conform.Same(g.t, "holes of "+player(seat), holesText(r.P[seat].Holes), holesText(dealt))
		}
	}
}
