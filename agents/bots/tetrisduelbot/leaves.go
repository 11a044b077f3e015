package tetrisduelbot

import (
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/falling"
	"blockyard/env/tetrisduel"
)

var _ search.LeafEvaluator = (*Hand)(nil)

// A decision measures the boards after one seat's actions; the rules make only those that are unusual.
type decision struct {
	state *tetrisduel.State
	seat  int
	kind  int           // the block to place
	board falling.Field // in the frame of the seat
	other falling.Field // the same board in that of the opponent
	plain bool          // the game goes on after placements that clear no row

	made  tetrisduel.State // the position after the last action that was made by the rules
	head  tetrisduel.State // the position after any action that clears no row, but for Cells and Last
	begun bool             // head is set

	still shape          // of the opponent's board as it is now
	half  [halfLen]int32 // the counts of still
	kept  bool           // still is set
	sure  bool           // half is set
}

const spare = 4 // the rows free everywhere that every block has room in

func (d *decision) open(s *tetrisduel.State, seat int) {
	d.state, d.seat, d.kind = s, seat, s.Block(int(s.Turn))
	d.board, d.other = s.Cells, tetrisduel.Turned(&s.Cells)
	if seat == 1 {
		d.board, d.other = d.other, d.board
	}
	d.plain = s.Turn < tetrisduel.HalfTurns
	d.begun, d.kept, d.sure = false, false, false
}

// after measures both boards after action a. opp is &d.still if a does not change what the opponent can reach. s has
// all else that evaluators read of the position; its Cells may be others. ok is false if a ends the game.
func (d *decision) after(r *FeatureReader, a env.Action) (s *tetrisduel.State, opp *shape, ok bool) {
	if d.plain {
		p, board, low := tetrisduel.At(a), d.board, 0
		cells := tetrisduel.Cells(d.kind, p.D)
		for _, c := range cells {
			x, y := p.X+int(c.X), p.Y+int(c.Y)
			board.Set(x, y)
			low = max(low, y)
		}
		if board.Full(columns)&reach == 0 {
			if opp = d.opposite(r, p, &cells, low); opp.minFree >= spare && d.start(a) {
				r.own.measure(&board)
				return &d.head, opp, true
			}
		}
	}
	d.made.CopyFrom(d.state)
	env.After(&d.made, d.seat, a)
	if d.made.Reason != tetrisduel.Running {
		return nil, nil, false
	}
	r.measure(&d.made)
	return &d.made, &r.opp, true
}

// opposite measures the opponent's board after a placement that clears no row; low is the lowest row of its cells.
func (d *decision) opposite(r *FeatureReader, p tetrisduel.Placement, cells *[4]falling.Cell, low int) *shape {
	if low < tetrisduel.Height-rows { // out of the opponent's reach
		if !d.kept {
			d.still.measure(&d.other)
			d.kept = true
		}
		return &d.still
	}
	board := d.other
	for _, c := range cells {
		board.Set(columns-1-p.X-int(c.X), tetrisduel.Height-1-p.Y-int(c.Y))
	}
	r.opp.measure(&board)
	return &r.opp
}

// start sets head by a, an action that clears no row, and reports whether the game goes on.
func (d *decision) start(a env.Action) bool {
	if !d.begun {
		d.head.CopyFrom(d.state)
		env.After(&d.head, d.seat, a)
		d.begun = d.head.Reason == tetrisduel.Running
	}
	return d.begun
}

// SharedAfter implements features.LeafReader: what the afterstates of one half-turn have in common.
func (r *FeatureReader) SharedAfter(state env.State, seat int, out []float32) {
	r.leaf.open(state.(*tetrisduel.State), seat)
	r.leaf.made.CopyFrom(state)
	r.leaf.made.Turn++
	r.Shared(&r.leaf.made, seat, out)
}

// CountsAfter implements features.LeafReader. The opponent's counts are computed once for all actions that leave its
// half as it is.
func (r *FeatureReader) CountsAfter(a env.Action, out []int32) bool {
	d := &r.leaf
	s, opp, ok := d.after(r, a)
	if !ok {
		return false
	}
	if opp != &d.still {
		half(opp, &r.oppBlocks, out[halfLen:])
	} else {
		if !d.sure {
			half(opp, &r.oppBlocks, d.half[:])
			d.sure = true
		}
		copy(out[halfLen:], d.half[:])
	}
	r.write(s, &r.own, opp, out)
	return true
}

// EvaluateLeaves implements search.LeafEvaluator: it puts the block on a copy of the board only, not of the whole
// position.
func (h *Hand) EvaluateLeaves(state env.State, seat int, legal []env.Action, out []float32, rest []int) []int {
	r := &h.reader
	r.leaf.open(state.(*tetrisduel.State), seat)
	r.leaf.made.CopyFrom(state)
	r.leaf.made.Turn++
	r.begin(&r.leaf.made)
	var at [8]int // the actions whose terms are set
	n := 0
	for i, a := range legal {
		if s, opp, ok := r.leaf.after(r, a); ok {
			h.fill(n, s, &r.own, opp)
			at[n], n = i, n+1
		} else {
			rest = append(rest, i)
		}
		if n == len(at) || n > 0 && i+1 == len(legal) {
			sums := h.sums(&r.leaf.made)
			for k, i := range at[:n] {
				out[i] = sums[k&7]
			}
			n = 0
		}
	}
	return rest
}
