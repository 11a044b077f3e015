package blockbattlelog

import (
	"slices"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// checkTurns replays the game with the bot's answers, and compares the lines of every turn with ours.
func (d *dialogue) checkTurns(t *conform.Tally) {
	s := &blockbattle.State{Round: 1, Winner: blockbattle.Nobody, Rules: d.rules}
	for i := range d.turns {
		now := &d.turns[i]
		d.at(t, now, "")
		badBoard := now.bad[d.me] != nil || !d.port && now.bad[1-d.me] != nil
		if len(now.lines) == 0 || now.piece < 0 || now.next < 0 || badBoard {
			conform.Same(t, "the updates can be read", false, true)
			return
		}
		if i > 0 {
			d.advance(t, s, i)
			d.at(t, now, "")
			conform.Same(t, "piece as announced", now.piece, d.turns[i-1].next)
		}
		s.Piece, s.Next = uint8(now.piece), uint8(now.next)
		sameLines(t, now.lines, d.expect(s, now.time))
		for seat := range s.Sides {
			if seat == d.me || !d.port {
				conform.Same(t, "the game goes on: "+player(seat)+" can spawn", true, !s.Sides[seat].SpawnHits(now.piece))
			}
		}
	}
}

// said are the answers that the engine can have used in a turn: the bot's line, none after a time-out, or, since the
// classic engine takes a late line as the next answer, that of the turn before.
func (d *dialogue) said(i int) []string {
	out := slices.Clone(d.turns[i].answers)
	if d.turns[i].late || len(out) == 0 {
		out = append(out, "")
	}
	if i > 0 && d.lateBefore(i) {
		out = append(out, d.turns[i-1].answers...)
	}
	return out
}

func (d *dialogue) lateBefore(i int) bool {
	return slices.ContainsFunc(d.turns[:i], func(t turn) bool { return t.late })
}

// advance plays the turn before turn i, by the first of its possible answers that leads to the board of turn i.
func (d *dialogue) advance(t *conform.Tally, s *blockbattle.State, i int) {
	now := &d.turns[i]
	var best blockbattle.State
	for n, out := range d.said(i - 1) {
		land, _ := blockbattle.Execute(&s.Sides[d.me], int(s.Piece), tokens(out, s.Rules), s.Rules)
		after, explain := *s, d.together
		if d.port {
			explain = d.alone
		}
		fits := explain(&after, land, now) && after.Sides[d.me] == now.sides[d.me]
		if n == 0 || fits {
			best = after
		}
		if fits {
			break
		}
	}
	*s = best
	if d.port {
		return
	}
	// The replay goes on from the opponent's side as shown, as the log does not have its answer; see together.
	d.at(t, now, ", "+player(1-d.me))
	them := 1 - d.me
	explained := s.Sides[them] == now.sides[them]
	conform.Same(t, "an answer explains the opponent's board, points, combo and skips", true, explained)
	s.Sides[them] = now.sides[them]
}

// together plays a round with the action that leads to the opponent's side in now, and does not end the game, if any.
func (d *dialogue) together(s *blockbattle.State, land blockbattle.Landing, now *turn) bool {
	them := 1 - d.me
	start := *s
	var holes [2][][]int
	holes[d.me] = rowsIn(&now.sides[them])
	holes[them] = rowsIn(&now.sides[d.me])
	for _, a := range append([]env.Action{env.None}, start.Legal(them, nil)...) {
		after := start
		var lands [2]blockbattle.Landing
		lands[d.me], lands[them] = land, start.Landing(them, a)
		p := settle(&after, lands, holes, now.next)
		after.Over, after.Winner = false, blockbattle.Nobody
		for i := range after.Sides {
			after.Sides[i].Lost = blockbattle.NotLost
		}
		fits := after.Sides[them] == now.sides[them] && len(p.losses) == 0
		if a == env.None || fits {
			*s = after
		}
		if fits {
			return true
		}
	}
	return false
}

// rowsIn are the holes of the rows above the solid ones, the lowest first, as long as they can be garbage.
func rowsIn(side *blockbattle.Side) [][]int {
	var out [][]int
	for y := blockbattle.Height - int(side.Solid) - 1; y >= 0; y-- {
		var row []int
		for x := range blockbattle.Width {
			if !side.Cells.At(x, y) {
				row = append(row, x)
			}
		}
		if len(row) < 1 || len(row) > 2 {
			break
		}
		out = append(out, row)
	}
	return out
}

// alone plays a round by the bot's own side alone, with the fewest garbage rows that explain its board in now.
func (d *dialogue) alone(s *blockbattle.State, land blockbattle.Landing, now *turn) bool {
	them, sent := 1-d.me, s.Sides[1-d.me].Points/blockbattle.PerGarbage
	s.Sides[them] = blockbattle.Side{}
	var lands [2]blockbattle.Landing
	lands[d.me], lands[them] = land, s.Landing(them, env.None)
	p := settle(s, lands, [2][][]int{}, now.next)
	lost := has(p.losses, d.me)
	own := s.Sides[d.me]
	own.Lost = blockbattle.NotLost
	s.Over, s.Winner = false, blockbattle.Nobody
	s.Sides[d.me], s.Sides[them] = own, blockbattle.Side{Points: sent * blockbattle.PerGarbage}
	rows := rowsIn(&now.sides[d.me])
	for k := 0; k <= len(rows) && !lost; k++ {
		side, total := own, int(sent)+k
		if side.Cells.Any()&(1<<k-1) != 0 {
			break
		}
		shown := &now.sides[d.me]
		if insert(&side, rows[:k], total) && side.Cells == shown.Cells && side.Solid == shown.Solid {
			s.Sides[d.me] = side
			// Nothing but the number of rows that it has sent is known of the opponent.
			s.Sides[them].Points = int32(total * blockbattle.PerGarbage)
			return true
		}
	}
	return false
}

// insert adds garbage rows, and reports whether their holes are as many as of a sender of total rows by then.
func insert(side *blockbattle.Side, rows [][]int, total int) bool {
	side.Cells.Raise(len(rows))
	y := blockbattle.Height - int(side.Solid)
	for i, row := range rows {
		y--
		want := 1
		if (i%2 == 0) != (total%2 == 0) {
			want = 2
		}
		if len(row) != want || y < 0 {
			return false
		}
		for x := range blockbattle.Width {
			if x != row[0] && x != row[len(row)-1] {
				side.Cells.Set(x, y)
			}
		}
	}
	return true
}
