package blockbattlelog

import (
	"encoding/json"
	"fmt"

	"blockyard/datasets/conform"
	"blockyard/env/blockbattle"
)

// A seen is a game in another file, as far as logs are compared with it.
type seen struct {
	port   bool
	rounds []seenRound
}

type seenRound struct {
	round, piece, next int
	sides              [2]blockbattle.Side
	outs               [2]string
}

// index notes a game for the logs of its bots. It ignores a malformed one: the check reports that.
func (all games) index(line []byte) {
	var rec gameRecord
	if json.Unmarshal(line, &rec) != nil || len(rec.Rounds) == 0 {
		return
	}
	g := &seen{port: rec.Rules == "port"}
	for i := range rec.Rounds {
		r := &rec.Rounds[i]
		if r.check() != nil {
			return
		}
		one := seenRound{round: r.Round}
		one.piece, _ = pieceOf(r.Piece)
		one.next, _ = pieceOf(r.Next)
		for seat := range r.P {
			p := &r.P[seat]
			if p.Start == nil || p.Out == nil || p.Pts0 == nil || p.Combo0 == nil || p.Skips0 == nil {
				continue
			}
			side, err := parseField(*p.Start)
			if err != nil {
				return
			}
			side.Points, side.Combo, side.Skips = int32(*p.Pts0), int32(*p.Combo0), int32(*p.Skips0)
			one.sides[seat], one.outs[seat] = side, *p.Out
		}
		if r.P[0].Out != nil && r.P[1].Out != nil {
			g.rounds = append(g.rounds, one)
		}
	}
	all[id(rec.ID)] = g
}

// checkGame compares the lines and the answers of a log with its game.
func (d *dialogue) checkGame(t *conform.Tally, g *seen) {
	t.At("log of %s", d.name)
	conform.Same(t, "the game of that name is the port's", d.port, g.port)
	for i := range d.turns {
		now := &d.turns[i]
		d.at(t, now, ", as in the game")
		if i >= len(g.rounds) {
			conform.Same(t, "the game has the round", true, false)
			return
		}
		r := &g.rounds[i]
		sameLines(t, now.lines, d.expect(r.round, r.piece, r.next, &r.sides, now.time))
		if len(now.answers) == 1 && !now.late && !d.lateBefore(i) {
			answer, played := tokens(now.answers[0], d.rules()), tokens(r.outs[d.me], d.rules())
			conform.Same(t, "answer", fmt.Sprint(answer), fmt.Sprint(played))
		}
	}
}
