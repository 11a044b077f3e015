package blockingbot

import (
	"math"
	"math/bits"

	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/blocking"
)

// The seat's own features come first, then the same ones of its strongest rival. All are about 0 to 2.
const (
	groundAt = 20            // where features of what a seat has for itself begin
	pieceAt  = groundAt + 18 // where those of single letters begin
	sideLen  = pieceAt + 3*blocking.Letters
	moreLen  = 8
	// OwnLen is how many features change with the seat's own choices; they come first.
	OwnLen = 2*sideLen + moreLen
	// ConstLen is how many do not; they follow.
	ConstLen = 3
	// Len is how many features there are.
	Len = OwnLen + ConstLen
)

// A FeatureReader is a features.Reader. The letters of features are those of the default
// table; pieces of another table count as the letter whose form they have.
type FeatureReader struct {
	m       analysis
	classes [blocking.Letters]int8 // of each letter, -1 for none
	table   *blocking.Table        // they are of
}

// Own implements features.Reader: all that a placement can change.
func (r *FeatureReader) Own(state env.State, seat int, out []float32) {
	s := state.(*blocking.State)
	out = out[:OwnLen]
	r.use(s.Table())
	for i := 0; i < int(s.Seats); i++ {
		r.m.flood(s, i)
	}
	rival := r.rival(s, seat)
	r.m.place(s, seat)
	r.m.place(s, rival)
	r.m.widen(seat)
	r.m.widen(rival)
	tied := r.side(s, seat, rival, out[:sideLen])
	r.side(s, rival, seat, out[sideLen:2*sideLen])
	more := out[2*sideLen:]
	more[0] = float32(tied) * (1. / 20)
	more[1] = float32(int(s.Points[seat])-int(s.Points[rival])) * (1. / 10)
	contested := r.m.sides[seat].cover
	contested.And(&r.m.sides[rival].cover)
	more[2] = float32(contested.Count()) * (1. / 40)
	more[3] = float32(wait(s, seat)) * (1. / 2)
	r.rest(s, seat, rival, more[4:])
}

// Shared implements features.Reader: the features that are the same in all positions of a game.
func (r *FeatureReader) Shared(s env.State, _ int, out []float32) {
	out = out[:ConstLen]
	for i := range out {
		out[i] = 0
	}
	out[s.(*blocking.State).Seats-2] = 1
}

// rival is the strongest of the others by squares laid and cells in reach, the first to move of equals.
func (r *FeatureReader) rival(s *blocking.State, seat int) int {
	best, most := -1, 0
	for k := 1; k < int(s.Seats); k++ {
		i := (seat + k) % int(s.Seats)
		strength := 1 + 4*int(s.Points[i]) + r.m.sides[i].reach[4].Count()
		if s.Out>>uint(i)&1 != 0 {
			strength = 0
		}
		if best < 0 || strength > most {
			best, most = i, strength
		}
	}
	return best
}

// side writes the sideLen features of a seat, and returns how many cells it reaches as soon as another.
func (r *FeatureReader) side(s *blocking.State, seat, other int, out []float32) (tied int) {
	d := &r.m.sides[seat]
	left, fit, most, fives := r.letters(s, seat, out[pieceAt:sideLen])
	alone, tied := r.m.first(s, seat)
	sole := d.cover
	sole.Without(&r.m.sides[other].cover)
	out[0] = float32(s.Points[seat]) * (1. / 40)
	out[1] = float32(left) * (1. / 40)
	out[2] = float32(bits.OnesCount32(s.Left[seat])) * (1. / 10)
	out[3] = float32(d.connected.Count()) * (1. / 10)
	out[4] = float32(r.m.safe(s, seat)) * (1. / 5)
	out[5] = float32(d.allowed.Count()) * (1. / 80)
	for k := 1; k <= steps; k++ {
		out[5+k] = float32(d.reach[k].Count()) * (1. / 40)
	}
	out[11] = float32(alone) * (1. / 30)
	out[12] = float32(d.cover.Count()) * (1. / 40)
	out[13] = float32(sole.Count()) * (1. / 20)
	out[14] = float32(bits.OnesCount32(d.playable)) * (1. / 10)
	out[15] = float32(fit) * (1. / 30)
	out[16] = logs[d.places&(len(logs)-1)]
	out[17] = float32(most) * (1. / 5)
	out[18] = float32(fives) * (1. / 6)
	out[19] = float32(features.Yes(d.playable == 0))
	r.ground(s, seat, other, out[groundAt:pieceAt])
	return tied
}

// letters writes which pieces a seat has left, which of them fit, and in how many places. It returns the squares of the
// pieces left and of those that fit, the squares of the largest of these, and how many of them have five.
func (r *FeatureReader) letters(s *blocking.State, seat int, out []float32) (left, fit, most, fives int) {
	d := &r.m.sides[seat]
	const n = blocking.Letters
	has, fits, places := out[:n], out[n:2*n], out[2*n:3*n]
	for i := range has {
		has[i], fits[i], places[i] = 0, 0, 0
	}
	for m := s.Left[seat]; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		size := len(s.Table().Shapes[l].Squares)
		class := r.classes[l]
		left += size
		if class >= 0 {
			has[class] = 1
		}
		if d.playable>>uint(l)&1 == 0 {
			continue
		}
		fit += size
		most = max(most, size)
		if size == 5 {
			fives++
		}
		if class >= 0 {
			fits[class] = 1
			places[class] = logs[int(d.of[l])&(len(logs)-1)]
		}
	}
	return left, fit, most, fives
}

// ground writes what a seat can place where another cannot with its next piece, and where it never can; and the cells
// that it might take in the long run.
func (r *FeatureReader) ground(s *blocking.State, seat, other int, out []float32) {
	d, o := &r.m.sides[seat], &r.m.sides[other]
	r.beyond(s, seat, &o.cover, out[:3])
	r.beyond(s, seat, &o.ever, out[3:6])
	for k := 1; k <= wideSteps; k++ {
		out[5+k] = float32(d.wide[k].Count()) * (1. / 60)
	}
	only := d.ever
	only.Without(&o.ever)
	alone, tied := race(d.wide[:], [][]blocking.Board{o.wide[:]})
	out[14] = float32(d.ever.Count()) * (1. / 60)
	out[15] = float32(only.Count()) * (1. / 20)
	out[16] = float32(alone) * (1. / 40)
	out[17] = float32(tied) * (1. / 20)
}

// beyond writes what a seat can place without a cell of not: squares of all its pieces, of the largest, and pieces.
func (r *FeatureReader) beyond(s *blocking.State, seat int, not *blocking.Board, out []float32) {
	letters := r.m.beyond(s, seat, not)
	squares, most := 0, 0
	for m := letters; m != 0; m &= m - 1 {
		size := len(s.Table().Shapes[bits.TrailingZeros32(m)].Squares)
		squares += size
		most = max(most, size)
	}
	out[0] = float32(squares) * (1. / 30)
	out[1] = float32(most) * (1. / 5)
	out[2] = float32(bits.OnesCount32(letters)) * (1. / 10)
}

// logs are logarithms of placement counts: 0 to about 1.5.
var logs = func() (out [2048]float32) {
	for i := range out {
		out[i] = float32(math.Log(float64(1+i)) / 5)
	}
	return out
}()

// rest writes what there is beside seat and rival: means over the others, and the share of them that is stuck.
func (r *FeatureReader) rest(s *blocking.State, seat, rival int, out []float32) {
	out = out[:4]
	for i := range out {
		out[i] = 0
	}
	share := 1 / float32(int(s.Seats)-1)
	for i := 0; i < int(s.Seats); i++ {
		if i == seat || i == rival {
			continue
		}
		d := &r.m.sides[i]
		out[0] += share * float32(s.Points[i]) * (1. / 40)
		out[1] += share * float32(d.reach[4].Count()) * (1. / 40)
		out[2] += share * float32(d.connected.Count()) * (1. / 10)
		if (s.Out|s.Stuck)>>uint(i)&1 != 0 {
			out[3] += share
		}
	}
}

// wait is how many seats may be asked before seat is.
func wait(s *blocking.State, seat int) int {
	n := 0
	for i := int(s.Turn); i%int(s.Seats) != seat; i++ {
		if (s.Out|s.Stuck)>>uint(i%int(s.Seats))&1 == 0 {
			n++
		}
	}
	return n
}

func (r *FeatureReader) use(t *blocking.Table) {
	if r.table == t {
		return
	}
	r.table = t
	for l := range r.classes {
		r.classes[l] = class(t, l)
	}
}

// class is the letter of the default table whose form letter l of t has, or -1.
func class(t *blocking.Table, l int) int8 {
	for k := 0; k < blocking.Letters; k++ {
		for _, o := range blocking.DefaultTable.Forms(k) {
			if blocking.SameCells(o.Cells, t.Forms(l)[0].Cells) {
				return int8(k)
			}
		}
	}
	return -1
}

// NewLearned returns the evaluator that is net over the features. Its output is the log odds that the seat wins, or
// anything else that is higher where the seat's position is better. The network knows positions as they are for a seat
// that has just placed: with two seats, any other position is worth the negative of what it is worth to the other seat.
func NewLearned(net *mlp.Net) *features.Learned {
	side := func(state env.State, seat int) int {
		if s := state.(*blocking.State); s.Seats == 2 {
			return placer(s)
		}
		return seat
	}
	return &features.Learned{Net: net, Reader: &FeatureReader{}, Own: OwnLen, Side: side}
}
