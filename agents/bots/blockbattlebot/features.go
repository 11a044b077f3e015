package blockbattlebot

import (
	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// Both seats of a position have the same features: the shape of the board, then what its
// owner has in stock. See features.txt for the order; all are about -2 to 2, most 0 to 1.
const (
	columns  = blockbattle.Width
	halfLen  = columns + 2*(columns-1) + 27
	extraLen = 13 + fitLen + digLen
	// OwnLen is how many features change with the seat's own choices; they come first.
	OwnLen = halfLen + extraLen
	// ConstLen is how many do not; they follow.
	ConstLen = halfLen + 5
	// Len is how many features there are.
	Len = OwnLen + ConstLen
)

var units = ownUnits() // those of the OwnLen counts, the first halfLen of them those of the opponent's half too

func ownUnits() []float32 {
	out := append(features.ColumnUnits(1./10, 1./3, columns),
		1./8, 1./10, 1./5, 1./4, 1./30, 1./20, 1./10,
		1./10, 1./60, 1./10, 1./10, 1, 1,
		1./4, 1./4, 1./4, 1./4, 1./5,
		1./2, 1./2, 1, 1./2, 1,
		1./2, 1, 1./4, 1./3,
		1./3, 1./10, 1, 1./10, 1, 1./20, 1./50, 1./8, 1, 1, 1./2, 1./30, 1./50)
	for i := 0; i < fitLen; i++ {
		if out = append(out, 1); i < 7 { // places, not whether there are none
			out[len(out)-1] = 1. / 2
		}
	}
	return digUnits(out)
}

// half writes the counts of one side, halfLen of them.
func half(s *shape, tops *[columns]int, side *blockbattle.Side, out []int32) {
	out = out[:halfLen]
	rest := features.Columns(s.floor, tops[:], out)
	rest = rest[:27]
	rest[0] = int32(s.holes)
	rest[1] = int32(s.covers)
	rest[2] = int32(s.holeRows)
	rest[3] = int32(s.overhangs)
	rest[4] = int32(s.rowEdges)
	rest[5] = int32(s.colEdges)
	rest[6] = int32(s.wells)
	rest[7] = int32(s.floor - s.minFree)
	rest[8] = int32(s.cells)
	rest[9] = int32(s.minFree)
	rest[10] = int32(s.spawn)
	rest[11] = features.Yes(s.spawn < 4)
	rest[12] = features.Yes(s.spawn < 2)
	rest[13] = int32(s.gapOpen)
	rest[14] = int32(s.gapClosed)
	rest[15] = int32(s.gapTwo)
	rest[16] = int32(s.ready)
	rest[17] = int32(s.deepest - s.second)
	rest[18] = int32(s.slots)
	rest[19] = int32(s.singles)
	rest[20] = int32(s.doubles)
	rest[21] = int32(s.notches)
	rest[22] = int32(s.halves)
	over := uint32(side.Points) % blockbattle.PerGarbage
	rest[23] = int32(over)
	rest[24] = features.Yes(over == blockbattle.PerGarbage-1)
	rest[25] = min(side.Combo, 8)
	rest[26] = min(side.Skips, 6)
}

// threat is about how many rows a side can send with its next piece, if that piece suits.
func threat(s *shape, side *blockbattle.Side) int {
	gain := 0
	switch {
	case s.doubles > 0 || s.ready == 4:
		gain = 10
	case s.ready == 3:
		gain = 6
	case s.singles > 0:
		gain = 5
	case s.ready == 2:
		gain = 3
	case s.gapOpen == 0 && s.gapTwo == 0:
		return 0 // nothing to clear
	}
	return int((uint32(side.Points)%blockbattle.PerGarbage + uint32(gain) + uint32(side.Combo)) / blockbattle.PerGarbage)
}

// An opponent describes the board of the other seat at one decision: what a seat's own choices do not change.
type opponent struct {
	shape  shape
	threat int // rows it may send next
	side   blockbattle.Side
	known  bool // side has been measured
}

// measure reads the opponent of seat, from the position of a decision or from any of its afterstates.
func (o *opponent) measure(s *blockbattle.State, seat int) {
	side := &s.Sides[1-seat]
	if o.known && o.side == *side { // as in most decisions of a search
		return
	}
	o.side, o.known = *side, true
	o.shape.measure(&side.Cells, int(side.Solid))
	o.threat = threat(&o.shape, side)
}

// A FeatureReader is a features.LeafReader. The zero value is ready for Shared.
type FeatureReader struct {
	opponent
	own    shape
	leaf   decision
	table  table
	counts [OwnLen]int32
}

// Own implements features.Reader: the OwnLen features of seat's half of the position.
func (r *FeatureReader) Own(state env.State, seat int, out []float32) {
	r.Counts(state, seat, r.counts[:])
	features.Multiply(r.counts[:], units, out)
}

// Counts implements features.LeafReader, with OwnLen counts of one side and the rows that threaten it.
func (r *FeatureReader) Counts(state env.State, seat int, out []int32) {
	s := state.(*blockbattle.State)
	side := &s.Sides[seat]
	r.own.measure(&side.Cells, int(side.Solid))
	r.write(side, int(s.Sides[1-seat].Pending), out)
}

// write writes the counts of a side that has sent so many rows; own has its board.
func (r *FeatureReader) write(side *blockbattle.Side, sent int, out []int32) {
	own := &r.own
	tops := own.tops()
	half(own, &tops, side, out)
	out = out[halfLen:OwnLen]
	out[0] = int32(sent)
	out[1] = int32(r.shape.minFree - sent)
	out[2] = features.Yes(sent > r.shape.minFree)
	out[3] = int32(own.minFree - r.threat)
	out[4] = features.Yes(r.threat > own.minFree)
	out[5] = int32(own.bumps())
	out[6] = int32(features.OverSquared(10, own.minFree))
	out[7] = int32(features.OverSquared(4, own.spawn))
	out[8] = features.Yes(own.ready == 4)
	out[9] = features.Yes(own.doubles > 0)
	out[10] = min(side.Skips, 4)
	out[11] = int32(sent * features.Over(10, r.shape.minFree))
	out[12] = int32(features.OverSquared(r.threat+3, own.minFree))
	fits(&tops, out[13:])
	own.digs(out[13+fitLen:])
}

// Shared implements features.Reader: the ConstLen features of the opponent and the clock.
func (r *FeatureReader) Shared(state env.State, seat int, out []float32) {
	s := state.(*blockbattle.State)
	r.measure(s, seat)
	tops := r.shape.tops()
	half(&r.shape, &tops, &s.Sides[1-seat], r.counts[:])
	features.Multiply(r.counts[:halfLen], units, out)
	out = out[halfLen:ConstLen]
	out[0] = float32(r.threat) * (1. / 3)
	const interval = blockbattle.SolidInterval
	left := (interval - s.Round%interval) % interval // 0: one rises at the end of this round
	out[1] = float32(left) * (1. / interval)
	out[2] = float32(features.Yes(left == 0))
	out[3] = float32(s.Sides[1-seat].Solid) * (1. / 10)
	out[4] = float32(min(s.Round, 200)) * (1. / 100)
}

// NewLearned returns the evaluator that is net over the features: the log odds that the seat wins, or the like.
func NewLearned(net *mlp.Net) *features.Counted {
	side := func(_ env.State, seat int) int { return seat }
	return features.NewCounted(net, new(FeatureReader), units, side)
}
