package tetrisduelbot

import (
	"math"

	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// The features (features.txt) are the board as seen by the seat that has just moved and by the other one, then what
// both share, then the time left and the blocks to come. All lie between about -2 and 2.
const (
	soon      = 3                            // blocks to come of each seat that a half knows of
	nextAt    = columns + 2*(columns-1) + 24 // where a half says what they take
	halfLen   = nextAt + 4*soon + digLen
	sharedLen = tetrisduel.Reachable - tetrisduel.Peace + 12
	// OwnLen is how many features change with the seat's own choice; they come first.
	OwnLen = 2*halfLen + sharedLen
	// ConstLen is how many do not; they follow.
	ConstLen = 4 + 2*soon*kinds
	// Len is how many features there are.
	Len = OwnLen + ConstLen
)

var units = ownUnits() // those of the OwnLen counts

const fine = 1. / 1024 // the unit in which fractions are counted

func ownUnits() (out []float32) {
	for i := 0; i < 2; i++ {
		out = append(out, features.ColumnUnits(1./10, 1./3, columns)...)
		out = append(out, 1./10, 1./10, 1./30, 1./20, 1./10, 1./10, 1./10, 1./3, 1, 1./100,
			1./2, 1./2, 1./2, 1./2, 1./2, 1./2, 1./2, 1./2, 1./4, 1./2, 1./500, 1./30, 1./10, 1./20)
		for k := 0; k < soon; k++ {
			out = append(out, 1, 1, 1, 1./3)
		}
		out = digUnits(out)
	}
	for i := 0; i < battleRows; i++ {
		out = append(out, 1./10)
	}
	return append(out, 1./20, 1./5, fine, 1, 1./5, 1./5, 1, 1./5, 1./5, 1, 1./5, fine)
}

// half writes the counts of one seat's view, halfLen of them; blocks are the kinds it plays next, -1 after the last.
func half(s *shape, blocks *[soon]int, out []int32) {
	out = out[:halfLen]
	tops := s.tops()
	rest := features.Columns(rows, tops[:], out)
	rest[0] = int32(s.holes)
	rest[1] = int32(s.covers)
	rest[2] = int32(s.rowEdges)
	rest[3] = int32(s.colEdges)
	rest[4] = int32(s.wells)
	rest[5] = int32(rows - s.minFree)
	rest[6] = int32(rows - s.maxFree)
	rest[7] = int32(features.Over(rows-s.minFree, 10))
	rest[8] = int32(features.Over(rows-s.minFree, 12))
	rest[9] = int32(s.open)
	for i, n := range s.clean {
		rest[10+i] = int32(n)
	}
	rest[14] = int32(s.foul[0])
	rest[15] = int32(s.foul[1])
	rest[16] = int32(s.calm[0])
	rest[17] = int32(s.calm[1])
	rest[18] = int32(s.taking(1))
	rest[19] = int32(s.taking(2))
	rest[20] = int32(s.heap)
	rest[21] = int32(features.OverSquared(10, s.minFree))
	rest[22] = int32(features.OverSquared(4, s.minFree))
	rest[23] = int32(s.bumps)
	next := out[nextAt:halfLen]
	for i, k := range blocks {
		w, g := s.take(k)
		next[4*i] = features.Yes(w > 0)
		next[4*i+1] = features.Yes(w > 1)
		next[4*i+2] = features.Yes(w > 2)
		next[4*i+3] = int32(g)
	}
	s.digs(next[4*soon:])
}

// finely counts v, kept between -most and most, in units of fine.
func finely(v, most float64) int32 {
	return int32(math.Floor(math.Max(-most, math.Min(v, most))/fine + 0.5))
}

// A FeatureReader is a features.LeafReader for the seat that has just moved, whatever seat it is called with.
type FeatureReader struct {
	seat      int
	own, opp  shape
	ownBlocks [soon]int
	oppBlocks [soon]int
	leaf      decision
	counts    [OwnLen]int32
}

func moved(s *tetrisduel.State) int { return 1 - s.Mover() }

// begin reads what the afterstates of one decision share, from any of them.
func (r *FeatureReader) begin(s *tetrisduel.State) {
	r.seat = moved(s)
	t := int(s.Turn)
	for i := 0; i < soon; i++ {
		r.oppBlocks[i], r.ownBlocks[i] = blockAt(s, t+2*i), blockAt(s, t+2*i+1)
	}
}

// blockAt is the block of half-turn t, -1 after the last.
func blockAt(s *tetrisduel.State, t int) int {
	if t > tetrisduel.HalfTurns {
		return -1
	}
	return s.Block(t)
}

func (r *FeatureReader) measure(s *tetrisduel.State) {
	turned := tetrisduel.Turned(&s.Cells)
	own, opp := &s.Cells, &turned
	if r.seat == 1 {
		own, opp = opp, own
	}
	r.own.measure(own)
	r.opp.measure(opp)
}

// take returns the battle rows that a seat clears if it drops a block straight now, and the points for them.
func (s *shape) take(kind int) (battle, points int) {
	if kind < 0 {
		return 0, 0
	}
	return int(s.takes[kind]), int(s.gains[kind])
}

// takesAny returns 1 if a seat clears a battle row by dropping a block straight now.
func (s *shape) takesAny(kind int) int32 {
	rows, _ := s.take(kind)
	return features.Yes(rows > 0)
}

// Own implements features.Reader: the boards, the points and the combo.
func (r *FeatureReader) Own(state env.State, seat int, out []float32) {
	r.Counts(state, seat, r.counts[:])
	features.Multiply(r.counts[:], units, out)
}

// Counts implements features.LeafReader, with the counts of the own half of the board first and those of the
// opponent's after them.
func (r *FeatureReader) Counts(state env.State, _ int, out []int32) {
	s := state.(*tetrisduel.State)
	r.measure(s)
	half(&r.opp, &r.oppBlocks, out[halfLen:])
	r.write(s, &r.own, &r.opp, out)
}

// write writes the counts of a position with the boards own and opp, but for those of opp alone.
func (r *FeatureReader) write(s *tetrisduel.State, own, opp *shape, out []int32) {
	half(own, &r.ownBlocks, out)
	out = out[2*halfLen : OwnLen]
	for i, e := 0, &own.empty; i < battleRows; i++ { // their taken cells
		out[i] = columns - features.Ones(lacking(e[0], e[1], e[2], uint(tetrisduel.Peace+i)))
	}
	out = out[battleRows:]
	lead, left := s.Points[r.seat]-s.Points[1-r.seat], halfTurnsLeft(s)
	out[0] = max(-80, min(lead, 80))
	out[1] = max(-5, min(lead, 5))
	out[2] = finely(float64(lead)/(1+math.Sqrt(float64(left))), 4)
	out[3] = max(-1, min(lead, 1))
	combo := int32(s.Combo)
	out[4] = combo
	out[5] = int32(features.Over(int(s.Combo), 4))
	out[6] = features.Yes(s.Flag)
	out[7] = combo * opp.takesAny(r.oppBlocks[0])
	out[8] = combo * own.takesAny(r.ownBlocks[0])
	out[9] = features.Yes(s.Flag && r.seat == 0)
	out[10] = combo * opp.takesAny(r.oppBlocks[1])
	late := 1.
	if left < fade {
		late = fade / float64(left)
	}
	out[11] = finely(float64(lead)*late/20, 8)
}

// halfTurnsLeft includes the next one.
func halfTurnsLeft(s *tetrisduel.State) int { return tetrisduel.HalfTurns - int(s.Turn) + 1 }

// Shared implements features.Reader: the clock and the blocks to come.
func (r *FeatureReader) Shared(state env.State, _ int, out []float32) {
	s := state.(*tetrisduel.State)
	r.begin(s)
	out = out[:ConstLen]
	left := halfTurnsLeft(s)
	out[0] = float32(left) * (1. / tetrisduel.HalfTurns)
	out[1] = float32(features.Over(80, left)) * (1. / 80)
	out[2] = float32(features.Over(20, left)) * (1. / 20)
	out[3] = float32(features.Yes(r.seat == 0))
	out = out[4:]
	for i := range out {
		out[i] = 0
	}
	for i := 0; i < 2*soon; i++ {
		if k := blockAt(s, int(s.Turn)+i); k >= 0 {
			out[i*kinds+k] = 1
		}
	}
}

// NewLearned returns the evaluator that applies net to the features. Its value is for the seat that has just moved; the
// other seat's is the negative.
func NewLearned(net *mlp.Net) *features.Counted {
	side := func(s env.State, _ int) int { return moved(s.(*tetrisduel.State)) }
	return features.NewCounted(net, new(FeatureReader), units, side)
}
