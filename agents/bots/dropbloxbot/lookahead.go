package dropbloxbot

import (
	"math"

	"blockyard/agents/search"
	"blockyard/env/dropblox"
)

const MaxFutures = 4096 // bounds the futures of a lookahead

const (
	rivals  = 5  // first placements that a lookahead compares, at most
	starts  = 4  // boards after the known blocks from which each of them continues, at most
	narrow  = 20 // width of the beams that continue them
	stratum = 16 // futures whose draws are stratified together; fewer do not change the choice
	clearly = 3  // standard errors by which a placement must be worse to be excluded early
)

// An Ender is a Rater that also rates finished games, in the same units.
type Ender interface {
	Rater
	// Ended is the value of a line that ends the game, whose last board is b.
	Ended(b *Board) float32
}

// A lookahead is the memory of Beam.Lookahead: the draws, the first placements and the beam that continues them.
type lookahead struct {
	beam    *Beam // continues lines in a future
	draws   dropblox.Twister
	strata  [dropblox.Known][stratum]uint8 // for each block of a future, a permutation
	future  Problem
	rivals  [rivals]rival
	count   int
	depth   int // blocks of a future
	narrow  int
	last    Board // a copy of the best board before the last block
	samples int   // futures drawn
}

// A rival is a first placement, and what it is worth in the futures drawn so far.
type rival struct {
	first  int32
	boards []Board
	worth  []float32
	out    bool // clearly worse than another
}

func newLookahead(r Rater) *lookahead {
	return &lookahead{beam: NewBeam(r), depth: dropblox.Known, narrow: narrow}
}

// Lookahead reconsiders at, the choice of the last Choose for p, which must have been done. It draws futures: six
// blocks that may follow the known ones at the score of p. In every future, narrow beams continue the best lines of up
// to five first placements. It returns the placement with the greatest mean value, or at if there is nothing to
// compare. If c stops it, fewer than 16 futures do not change the choice.
//
// Placements that are clearly worse are excluded early. The draws depend on p alone. The rater must be an Ender.
func (b *Beam) Lookahead(p *Problem, at dropblox.Placement, futures int, c search.Clock) dropblox.Placement {
	if b.over || b.known < dropblox.Known {
		return at
	}
	if b.ahead == nil {
		b.ahead = newLookahead(b.rater)
	}
	l := b.ahead
	if l.gather(b.now); l.count < 2 {
		return at
	}
	l.seed(p)
	for l.samples = 0; l.samples < futures; l.samples++ {
		if l.samples%stratum == 0 && l.samples > 0 && l.exclude() == 1 {
			break
		}
		l.draw(p)
		if !l.sample(&c) {
			break
		}
	}
	if l.samples < stratum && l.samples < futures {
		return at
	}
	return placement(l.rivals[l.best()].first)
}

// gather makes rivals of the first placements of the boards, which are sorted, the best first.
func (l *lookahead) gather(boards []Board) {
	l.count = 0
	for i := range boards {
		k := 0
		for k < l.count && l.rivals[k].first != boards[i].first {
			k++
		}
		if k == len(l.rivals) {
			continue
		}
		r := &l.rivals[k]
		if k == l.count {
			l.count++
			*r = rival{first: boards[i].first, boards: r.boards[:0], worth: r.worth[:0]}
		}
		if len(r.boards) < starts {
			r.boards = append(r.boards, boards[i])
		}
	}
}

// seed starts the generator of draws from the problem.
func (l *lookahead) seed(p *Problem) {
	h := uint64(p.Points)
	for _, c := range p.Field[:dropblox.Cols] {
		h = (h ^ c) * 0xD6E8FEB86659FD93
		h ^= h >> 32
	}
	key := [2]uint32{uint32(h), uint32(h >> 32)}
	l.draws.Seed(key[:])
}

// draw draws a future. The sizes of blocks matter most, so that the numbers that select them are stratified.
func (l *lookahead) draw(p *Problem) {
	n := l.samples % stratum
	if n == 0 {
		for k := range l.strata {
			s := &l.strata[k]
			for i := range s {
				j := int(l.draws.Uniform() * float64(i+1))
				s[i] = s[j]
				s[j] = uint8(i)
			}
		}
	}
	l.future.Depth = l.depth
	for k := 0; k < l.depth; k++ {
		level := (float64(l.strata[k][n]) + l.draws.Uniform()) / stratum
		l.future.Blocks[k] = dropblox.BlockOf(dropblox.Draw(level, l.draws.Uniform(), int(p.Points)))
	}
}

// sample adds the value of every rival in the future drawn. It reports false, and adds nothing, when c stops it.
func (l *lookahead) sample(c *search.Clock) bool {
	for i := 0; i < l.count; i++ {
		r := &l.rivals[i]
		if r.out {
			continue
		}
		worth, done := l.value(r.boards, c)
		if !done {
			return false
		}
		r.worth = append(r.worth[:l.samples], worth)
	}
	return true
}

// value is the value of the best line that continues one of the boards in the future drawn.
func (l *lookahead) value(boards []Board, c *search.Clock) (worth float32, done bool) {
	b := l.beam
	depth := b.prepare(&l.future)
	b.now = append(b.now[:0], boards...)
	lost := lastStand{depth: -1}
	for k := 0; k < depth; k++ {
		l.last = b.now[0]
		if c.Up() || !b.grow(k, depth, l.narrow, &lost, c) {
			return 0, false
		}
		if len(b.now) == 0 {
			l.last.Points = max(l.last.Points, lost.points)
			return b.rater.(Ender).Ended(&l.last), true
		}
	}
	return b.keep.best, true
}

func (l *lookahead) best() int {
	best, most := 0, math.Inf(-1)
	for i := 0; i < l.count; i++ {
		if r := &l.rivals[i]; !r.out {
			if sum := r.sum(l.samples); sum > most {
				best, most = i, sum
			}
		}
	}
	return best
}

func (r *rival) sum(samples int) (sum float64) {
	for _, v := range r.worth[:samples] {
		sum += float64(v)
	}
	return sum
}

// exclude excludes the rivals that are clearly worse than the best one, and returns how many are left.
func (l *lookahead) exclude() (left int) {
	best, n := &l.rivals[l.best()], float64(l.samples)
	for i := 0; i < l.count; i++ {
		r := &l.rivals[i]
		if r.out {
			continue
		}
		sum, squares := 0.0, 0.0
		for k, v := range r.worth[:l.samples] {
			d := float64(best.worth[k] - v)
			sum += d
			squares += d * d
		}
		mean := sum / n
		if r.out = mean*mean > clearly*clearly*(squares/n-mean*mean)/(n-1); !r.out {
			left++
		}
	}
	return left
}
