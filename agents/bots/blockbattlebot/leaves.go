package blockbattlebot

import (
	"math/bits"

	"blockyard/env"
	"blockyard/env/blockbattle"
)

// A decision makes the boards that a seat's actions lead to; the rules make only those of unusual actions.
type decision struct {
	state *blockbattle.State
	seat  int
	made  blockbattle.State // the position after the last action that was made by the rules

	w      [4]uint64 // the board, as measure reads it
	floor  int
	wall   uint64 // the lanes of w[2] and w[3] that are wall
	solid  bool   // a solid row rises at the end of the round
	blocks *[spots]block
	spots  *[blockbattle.SkipAction]spot
	spawn  [4]uint64        // the cells in which the next piece appears
	side   blockbattle.Side // the seat's side after an action that clears no row
	clears blockbattle.Side // and after the last one that did
	room   bool             // there is room for the tallest piece
}

// A spot is the place of an action: an index into the blocks of its piece, and the row of the lowest cell.
type spot struct{ block, low uint8 }

// A block is the cells of a piece in one orientation and column, in the lanes of measure, with the lowest in row deep.
type block struct {
	cells [4]uint64
	rise  uint8 // rows of the piece above the lowest
}

// spots is how many blocks a piece has, deep the rows of the tallest piece less 1.
const (
	spots = 4 * blockbattle.Width
	deep  = 3
)

var (
	blocksOf [blockbattle.Pieces][spots]block
	spotsOf  = listSpots()
)

// listSpots reads the places of all actions from the rules, and sets blocksOf.
func listSpots() *[blockbattle.Pieces][blockbattle.SkipAction]spot {
	out := new([blockbattle.Pieces][blockbattle.SkipAction]spot)
	for piece := range out {
		s := blockbattle.State{Piece: uint8(piece)}
		for a := range out[piece] {
			land := s.Landing(0, env.Action(a))
			_, cells := blockbattle.Box(piece, land.Rot)
			left, top, low := blockbattle.Width, blockbattle.Height, 0
			for _, c := range cells {
				left, top, low = min(left, land.X+int(c.X)), min(top, land.Y+int(c.Y)), max(low, land.Y+int(c.Y))
			}
			at := &out[piece][a]
			at.block, at.low = uint8(land.Rot*blockbattle.Width+left), uint8(low)
			b := block{rise: uint8(low - top)}
			for _, c := range cells {
				if x := land.X + int(c.X); x < blockbattle.Width { // otherwise no board has the action
					b.cells[x&3] |= 1 << uint(x>>2*lane+land.Y+int(c.Y)-low+deep)
				}
			}
			blocksOf[piece][at.block] = b
		}
	}
	return out
}

func (d *decision) open(s *blockbattle.State, seat int) {
	d.state, d.seat = s, seat
	side := &s.Sides[seat]
	d.floor = blockbattle.Height - int(side.Solid)
	d.w = lanes(&side.Cells, d.floor)
	d.wall = d.w[2] & outer
	d.solid = s.Round%blockbattle.SolidInterval == 0
	d.room = d.floor > deep+1
	d.blocks, d.spots = &blocksOf[s.Piece], &spotsOf[s.Piece]
	d.spawn = [4]uint64{}
	_, cells := blockbattle.Box(int(s.Next), 0)
	for _, c := range cells {
		if y := int(c.Y) - 1; y >= 0 {
			x := blockbattle.SpawnX(int(s.Next)) + int(c.X)
			d.spawn[x&3] |= 1 << uint(x>>2*lane+y)
		}
	}
	d.side = blockbattle.Side{Points: side.Points, Skips: side.Skips, Solid: side.Solid}
}

// after makes board k of to the seat's board after action a. It returns the rest of the seat's side, whose Cells may
// be empty, and the rows sent. ok is false if the action ends the game.
func (d *decision) after(a env.Action, to *batch, k int) (side *blockbattle.Side, sent int, ok bool) {
	if !d.room || a >= blockbattle.SkipAction {
		return d.byRules(a, to, k)
	}
	at := d.spots[a]
	b := &d.blocks[at.block%spots]
	if at.low < b.rise {
		return d.byRules(a, to, k)
	}
	w0, w1 := d.w[0]|shifted(b.cells[0], at.low), d.w[1]|shifted(b.cells[1], at.low)
	w2, w3 := d.w[2]|shifted(b.cells[2], at.low), d.w[3]|shifted(b.cells[3], at.low)
	side, sent = &d.side, int(d.state.Sides[1-d.seat].Pending)
	full := w0 & w1 & w2 & w3
	if full &= full >> lane & (full >> (2 * lane)) & (1<<blockbattle.Height - 1); full != 0 {
		rows := bits.OnesCount64(full)
		for ; full != 0; full &= full - 1 {
			above := (full&-full - 1) * each // the rows above the topmost row to remove
			below := ^(above<<1 | each)
			w0, w1 = w0&below|w0&above<<1, w1&below|w1&above<<1
			w2, w3 = w2&below|w2&above<<1, w3&below|w3&above<<1
		}
		w2, w3 = w2|d.wall, w3|d.wall
		side = &d.clears
		sent += d.award(a, rows, w0|w1|(w2|w3)&^outer == 0)
		sent = min(sent, blockbattle.Height)
	}
	floor := d.floor
	if d.solid {
		if (w0|w1|(w2|w3)&^outer)&each != 0 { // a block is pushed over the top
			return nil, 0, false
		}
		w0, w1 = w0>>1, w1>>1
		w2, w3 = w2&^outer>>1|d.wall>>1&outer, w3&^outer>>1|d.wall>>1&outer
		floor--
	}
	if w0&d.spawn[0]|w1&d.spawn[1]|w2&d.spawn[2]|w3&d.spawn[3] != 0 {
		return nil, 0, false
	}
	to.put(k, w0, w1, w2, w3, floor)
	return side, sent, true
}

// award sets clears to the seat's side after action a has cleared rows, and returns how many rows it sends.
func (d *decision) award(a env.Action, rows int, empty bool) int {
	land := d.state.Landing(d.seat, a)
	d.clears = d.side
	d.clears.Combo = d.state.Sides[d.seat].Combo
	d.clears.Award(rows, empty, &land, d.state.Rules)
	return int(d.clears.Points)/blockbattle.PerGarbage - int(d.side.Points)/blockbattle.PerGarbage
}

func (d *decision) byRules(a env.Action, to *batch, k int) (side *blockbattle.Side, sent int, ok bool) {
	d.made.CopyFrom(d.state)
	d.made.After(d.seat, a)
	if d.made.Over {
		return nil, 0, false
	}
	side = &d.made.Sides[d.seat]
	to.set(k, &side.Cells, int(side.Solid))
	return side, int(d.made.Sides[1-d.seat].Pending), true
}

// shifted moves cells whose lowest row is deep so that it is low.
func shifted(cells uint64, low uint8) uint64 { return bits.RotateLeft64(cells, int(low)-deep) }

// SharedAfter implements features.LeafReader: what the afterstates of one round have in common.
func (r *FeatureReader) SharedAfter(state env.State, seat int, out []float32) {
	r.leaf.open(state.(*blockbattle.State), seat)
	r.leaf.made.CopyFrom(state)
	r.leaf.made.Round++
	r.Shared(&r.leaf.made, seat, out)
}

// CountsAfter implements features.LeafReader. It returns false for actions that end the game.
func (r *FeatureReader) CountsAfter(a env.Action, out []int32) bool {
	b := &r.table.boards
	side, sent, ok := r.leaf.after(a, b, 0)
	if ok {
		b.read(0, &r.own)
		r.write(side, sent, out)
	}
	return ok
}

// EvaluateLeaves implements search.LeafEvaluator: it puts the piece on a copy of the board only, not of the whole
// position.
func (h *Hand) EvaluateLeaves(state env.State, seat int, legal []env.Action, out []float32, rest []int) []int {
	s := state.(*blockbattle.State)
	h.leaf.open(s, seat)
	h.opp.measure(s, seat)
	var at [8]int // the actions whose terms are set
	n := 0
	for i, a := range legal {
		if side, sent, ok := h.leaf.after(a, &h.boards, n); ok {
			h.stock(n, side, sent)
			at[n], n = i, n+1
		} else {
			rest = append(rest, i)
		}
		if n == len(at) || n > 0 && i+1 == len(legal) {
			sums := h.sums(n)
			for k, i := range at[:n] {
				out[i] = sums[k&7]
			}
			n = 0
		}
	}
	return rest
}
