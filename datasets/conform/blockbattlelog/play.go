package blockbattlelog

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"blockyard/datasets/conform"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A played is a round as our rules play it.
type played struct {
	before  [2]blockbattle.Side
	after   [2]blockbattle.Side
	tokens  [2][]blockbattle.Token
	lands   [2]blockbattle.Landing
	refused [2][]int
	rep     blockbattle.Report
	losses  []blockbattle.Loss // of this round
	spawn   []blockbattle.Loss // of the spawn test that follows
	winner  string             // after this round, before that test
}

// inputs are what a transcript says about a round that the rules cannot know: answers and draws.
type inputs struct {
	outs  [2]string  // the answers
	holes [2][][]int // hole columns of the rows that each seat sends; those that do not fit the rules are ignored
	next  int        // the piece that is announced next
}

func play(s *blockbattle.State, in *inputs) *played {
	var lands [2]blockbattle.Landing
	var words [2][]blockbattle.Token
	var refused [2][]int
	for i, out := range in.outs {
		words[i] = tokens(out, s.Rules)
		lands[i], refused[i] = blockbattle.Execute(&s.Sides[i], int(s.Piece), words[i], s.Rules)
	}
	p := settle(s, lands, in.holes, in.next)
	p.tokens, p.refused = words, refused
	return p
}

// settle plays the rest of a round after the pieces have landed. A trial shows which rows are sent.
func settle(s *blockbattle.State, lands [2]blockbattle.Landing, holes [2][][]int, next int) *played {
	p := &played{before: s.Sides, lands: lands}
	var rough blockbattle.Report
	trial := *s
	trial.Play(&p.lands, &rough)
	s.Force(draws(&rough, holes, next))
	s.Play(&p.lands, &p.rep)
	p.after = s.Sides
	for _, l := range p.rep.Losses {
		if l.Phase == blockbattle.LostSpawn {
			p.spawn = append(p.spawn, l)
		} else {
			p.losses = append(p.losses, l)
		}
	}
	p.winner = "none"
	if len(p.losses) > 0 {
		p.winner = winnerOf(s)
	}
	return p
}

func tokens(out string, rules blockbattle.Rules) []blockbattle.Token {
	if rules&blockbattle.PortTokens != 0 {
		t, _ := blockbattle.ParsePortAnswer(out, nil)
		return t
	}
	t, _ := blockbattle.ParseAnswer(out, nil)
	return t
}

func winnerOf(s *blockbattle.State) string {
	if s.Winner == blockbattle.Nobody {
		return "none"
	}
	return player(int(s.Winner))
}

// draws are the random draws of a round, in the order of the rules.
func draws(trial *blockbattle.Report, holes [2][][]int, next int) []uint16 {
	var out []uint16
	for i := range trial.Sides {
		for n, mask := range trial.Sides[i].Holes {
			row := []int{0}
			if n < len(holes[i]) {
				row = holes[i][n]
			}
			out = append(out, uint16(row[0]))
			if mask&(mask-1) != 0 { // the second hole, as its distance from the one right of the first
				apart := (row[len(row)-1] - row[0] + blockbattle.Width) % blockbattle.Width
				out = append(out, uint16(max(apart-1, 0)))
			}
		}
	}
	out = append(out, uint16(next))
	return out[:min(len(out), env.MaxDraws)]
}

func (p *played) compare(t *conform.Tally, seat int, r *playerRecord) {
	land, rep := &p.lands[seat], &p.rep.Sides[seat]
	words := conform.Each(p.tokens[seat], blockbattle.Token.String)
	r.Given(t, "parsed", words, "illegal", p.refused[seat], "rest", fmt.Sprintf("%d,%d", land.X, land.Y))
	shape := box(land.Piece, land.Rot)
	if land.Skipped {
		shape = strings.ReplaceAll(shape, "1", "0")
	}
	r.Given(t, "shape", shape, "tspin", land.TSpin, "skipped", land.Skipped)
	locked := blockbattle.Side{Cells: rep.Locked, Solid: p.before[seat].Solid}
	r.Given(t,
		"locked", field(&locked, -1), "rows", rep.Rows, "cleared", rep.Cleared, "gain", rep.Gain,
		"lines", rep.Lines, "first_single", rep.FirstSingle)
	if r.Holes != nil {
		conform.Same(t, "holes", holesText(r.Holes), holesText(conform.Each(rep.Holes, columns)))
	}
	after := &p.after[seat]
	r.Given(t, "pts", int(after.Points), "combo", int(after.Combo), "skips", int(after.Skips), "end", field(after, -1))
}

// columns are the columns of a row's holes, in ascending order.
func columns(mask uint16) (row []int) {
	for ; mask != 0; mask &= mask - 1 {
		row = append(row, bits.TrailingZeros16(mask))
	}
	return row
}

// holesText is the hole columns of a batch as text, each row's in ascending order.
func holesText(rows [][]int) string {
	text := func(row []int) string { return fmt.Sprint(slices.Sorted(slices.Values(row))) }
	return strings.Join(conform.Each(rows, text), " ")
}

func has(lost []blockbattle.Loss, seat int) bool {
	return slices.ContainsFunc(lost, func(l blockbattle.Loss) bool { return l.Seat == seat })
}

func lossText(list []blockbattle.Loss) string {
	text := func(l blockbattle.Loss) string { return l.Phase.String() + " " + player(l.Seat) }
	return strings.Join(conform.Each(list, text), ", ")
}

func compareEnd(t *conform.Tally, r *roundRecord, losses []blockbattle.Loss, won string) {
	if r.Losses != nil {
		stated := conform.Each(r.Losses, func(l [2]string) string { return l[0] + " " + l[1] })
		conform.Same(t, "losses", strings.Join(stated, ", "), lossText(losses))
	}
	r.Given(t, "over", len(losses) > 0)
	sameWinner(t, r.Values, won)
}

// compareSpawnLoss compares the boards of a round that a failed spawn ended before the answers.
func compareSpawnLoss(t *conform.Tally, r *roundRecord, s *blockbattle.State, lost []blockbattle.Loss,
	at func(seat int)) {
	for i := range r.P {
		at(i)
		r.P[i].Given(t, "end", startField(&s.Sides[i], int(s.Piece), i, lost))
		if r.P[i].Out != nil || r.P[i].Has("rest") {
			conform.Same(t, "the round was played", true, false)
		}
	}
}

// box is piece's box after rot turns to the right: its rows joined by '/', with 1 for a cell.
func box(piece, rot int) string {
	side, cells := blockbattle.Box(piece, rot)
	rows := bytes.Repeat(append(bytes.Repeat([]byte("0"), side), '/'), side)
	for _, c := range cells {
		rows[int(c.Y)*(side+1)+int(c.X)] = '1'
	}
	return string(rows[:len(rows)-1])
}

// field is a side's board as in a transcript: that of the protocol without commas; piece -1 is none.
func field(side *blockbattle.Side, piece int) string {
	return strings.ReplaceAll(side.Field(piece), ",", "")
}

// startField is a side's board at the start of a round. The piece of a side that has lost is not on it.
func startField(side *blockbattle.Side, piece, seat int, lost []blockbattle.Loss) string {
	if has(lost, seat) {
		piece = -1
	}
	return field(side, piece)
}

// parseField reads such a board. The falling piece counts as empty.
func parseField(text string) (side blockbattle.Side, err error) {
	rows := strings.Split(text, ";")
	for y, row := range rows {
		if len(row) != blockbattle.Width {
			return side, fmt.Errorf("board row %d has %d cells, want %d", y, len(row), blockbattle.Width)
		}
		rows[y] = strings.Join(strings.Split(row, ""), ",")
	}
	if err = side.ReadField(strings.Join(rows, ";")); err != nil {
		err = fmt.Errorf("board: %w", err)
	}
	return side, err
}

func pieceOf(letter string) (int, error) {
	if i := strings.Index(blockbattle.Letters, letter); i >= 0 && len(letter) == 1 {
		return i, nil
	}
	return -1, fmt.Errorf("piece %q, want one of %s", letter, blockbattle.Letters)
}

func player(seat int) string { return [2]string{"player1", "player2"}[seat] }
