package blockbattlelog

import (
	"math/bits"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// checkTurns plays the game on from the bot's answers and compares the lines of every
// turn with those our side would have sent.
func (d *dialogue) checkTurns(t *conform.Tally) {
	s := &blockbattle.State{Round: 1, Winner: blockbattle.Nobody, Rules: blockbattle.Classic}
	if d.port {
		s.Rules = blockbattle.Port
	}
	for i := range d.turns {
		now := &d.turns[i]
		d.at(t, now, "")
		if len(d.turns[i].lines) == 0 || now.piece < 0 || now.next < 0 || now.bad[d.me] != nil || !d.port && now.bad[1-d.me] != nil {
			conform.Same(t, "the updates can be read", false, true)
			return
		}
		if i > 0 {
			d.advance(t, s, i)
			d.at(t, now, "")
			conform.Same(t, "piece as announced", now.piece, d.turns[i-1].next)
		}
		sameLines(t, now.lines, d.expect(int(s.Round), now.piece, now.next, &s.Sides, now.time))
		for seat := range s.Sides {
			if seat == d.me || !d.port {
				conform.Same(t, "the game goes on: "+player(seat)+" can spawn", true, spawns(&s.Sides[seat], now.piece))
			}
		}
		s.Piece, s.Next = uint8(now.piece), uint8(now.next)
	}
}

// said are the answers that a turn can have been played with: the bot's line; nothing, if
// the host remarked a time-out or got no line; and, once an answer was late, the line of the
// turn before, since the classic engine takes a late line for the next answer.
func (d *dialogue) said(i int) []string {
	out := append([]string(nil), d.turns[i].answers...)
	if d.turns[i].late || len(out) == 0 {
		out = append(out, "")
	}
	if i > 0 && d.lateBefore(i) {
		out = append(out, d.turns[i-1].answers...)
	}
	return out
}

// lateBefore reports whether an answer was late before turn i.
func (d *dialogue) lateBefore(i int) bool {
	for n := range d.turns[:i] {
		if d.turns[n].late {
			return true
		}
	}
	return false
}

// advance plays the turn before turn i, and leaves s at turn i. Where several lines may
// have been the answer, the first that fits is.
func (d *dialogue) advance(t *conform.Tally, s *blockbattle.State, i int) {
	now := &d.turns[i]
	var best blockbattle.State
	for n, out := range d.said(i - 1) {
		land, _ := blockbattle.Execute(&s.Sides[d.me], int(s.Piece), tokens(out, s.Rules), s.Rules)
		after, fits := *s, false
		if d.port {
			fits = d.alone(&after, land, now)
		} else {
			fits = d.together(&after, land, now)
		}
		fits = fits && after.Sides[d.me] == now.sides[d.me]
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
	// What the opponent did is known from what became of it; together has seen whether
	// some answer explains that.
	d.at(t, now, ", "+player(1-d.me))
	them := 1 - d.me
	conform.Same(t, "an answer explains the opponent's board, points, combo and skips", true, s.Sides[them] == now.sides[them])
	s.Sides[them] = now.sides[them]
}

// together plays a round in which the opponent gave the answer that leads to what now
// shows of it, and reports whether there is one. Losing sides are no explanation: the game
// went on.
func (d *dialogue) together(s *blockbattle.State, land blockbattle.Landing, now *turn) bool {
	them := 1 - d.me
	start := *s
	var holes [2][][]int
	holes[d.me] = rowsIn(&now.sides[them])
	holes[them] = rowsIn(&now.sides[d.me])
	for _, a := range append([]env.Action{env.None}, start.Legal(them, nil)...) {
		after := start
		var lands [2]blockbattle.Landing
		lands[d.me], lands[them] = land, landing(&start, them, a)
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

// rowsIn are the holes of the rows above the solid ones, the lowest first, as far as they
// can be rows that were sent. A batch may be cut from them.
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

// alone plays a round of which only the bot's own side is known: as few rows arrived as
// explain the board that now shows.
func (d *dialogue) alone(s *blockbattle.State, land blockbattle.Landing, now *turn) bool {
	them, sent := 1-d.me, s.Sides[1-d.me].Points/blockbattle.PerGarbage
	s.Sides[them] = blockbattle.Side{}
	var lands [2]blockbattle.Landing
	lands[d.me], lands[them] = land, landing(s, them, env.None)
	p := settle(s, lands, [2][][]int{}, now.next)
	lost := false
	for _, l := range p.losses {
		lost = lost || l.Seat == d.me
	}
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
		if insert(&side, rows[:k], total) && side.Cells == now.sides[d.me].Cells && side.Solid == now.sides[d.me].Solid {
			s.Sides[d.me] = side
			// The opponent is known by the rows it has sent alone.
			s.Sides[them].Points = int32(total * blockbattle.PerGarbage)
			return true
		}
	}
	return false
}

// insert puts rows with these holes above the solid ones, and reports whether they have
// as many holes as rows have of a sender that has then sent total.
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

// landing is what an action, legal or None, does to seat's piece.
func landing(s *blockbattle.State, seat int, a env.Action) blockbattle.Landing {
	piece := int(s.Piece)
	switch {
	case a == env.None:
		land, _ := blockbattle.Execute(&s.Sides[seat], piece, nil, s.Rules)
		return land
	case a == blockbattle.SkipAction:
		return blockbattle.Landing{Piece: piece, X: corner(piece), Y: -1, Skipped: true}
	}
	rot, x, y := int(a)%800/200, int(a)%200/20, int(a)%20
	left, low := extent(box(piece, rot))
	return blockbattle.Landing{Piece: piece, Rot: rot, X: x - left, Y: y - low, TSpin: a >= 800}
}

// extent is the leftmost column and the lowest row of a box's cells.
func extent(cells string) (left, low int) {
	columns, x, y := uint(0), 0, 0
	for _, c := range cells {
		switch c {
		case '/':
			x, y = 0, y+1
			continue
		case '1':
			columns |= 1 << x
			low = y
		}
		x++
	}
	return bits.TrailingZeros(columns), low
}
