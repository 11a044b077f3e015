package dropbloxbot

import (
	"math"
	"math/bits"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/dropblox"
)

// A Field is a board's taken squares, column by column.
type Field = dropblox.Field

// A Board is where a line of placements leads.
type Board struct {
	Field  Field
	Points int32   // score there
	Line   float32 // what a Rater has added up along the line
	first  int32   // the line's first placement, as an action
}

// A Kid is a board one placement further.
type Kid struct {
	Field  Field
	Points int32
	Rows   int32   // removed by the placement
	Eroded int32   // squares of the block in them
	Row    float32 // of the block's middle where it rested, from the top
	Line   float32 // for the Rater to set: what it adds up
	action int32
	lo     int8 // the first column in which it differs from the board before
	end    int8 // one past the last; 0 is unknown
}

// columns returns the columns in which a kid may differ from the board before, as lo and one past the last.
func (k *Kid) columns() (lo, end int) {
	if k.end == 0 {
		return 0, dropblox.Cols
	}
	return int(k.lo), int(k.end)
}

// A Rater says how good boards are. It belongs to one Beam.
type Rater interface {
	// Rate writes to worth the value of each of kids, boards after the same number of placements
	// that were reached through from: higher is better, and includes the points made. It may set
	// Line of kids from that of from. left is how many of the known blocks are still to be placed.
	Rate(from *Board, kids []Kid, left int, worth []float32)
}

const MaxWidth = 20000 // bounds a Beam

// A Beam searches the known blocks one after the other, and keeps the best boards, each once, after each of them.
type Beam struct {
	rater  Rater
	shapes [dropblox.Known]dropblox.Shape
	spawn  [dropblox.Known]Field // squares the blocks take where they appear
	now    []Board
	next   []Board
	kids   []Kid
	worth  []float32
	keep   keeper
	rest   dropblox.Poses
	last   float32 // worth of the line chosen
	over   bool    // that line ends the game
	known  int     // blocks searched by the last search
	seen   int     // kids rated by it
	ahead  *lookahead
}

// NewBeam returns a Beam that rates boards by rater, which it takes over.
func NewBeam(rater Rater) *Beam { return &Beam{rater: rater} }

// A Problem is the input of a Beam: the board, the score and the known blocks.
type Problem struct {
	Field  Field
	Points int32
	Blocks [dropblox.Known]dropblox.Block
	Depth  int // blocks to search, 1 to Known; 0 is all
}

// Of returns the Problem of a position: its board, its points and the blocks that its player knows.
func Of(s *dropblox.State) *Problem {
	p := &Problem{Field: s.Taken, Points: s.Points}
	for k := range p.Blocks {
		p.Blocks[k] = s.Block(k)
	}
	return p
}

// Choose returns the first placement of the best line found with width boards kept after every
// placement, and its worth. ok is false if the block has no room. If c stops the search, it ends at
// once: done is then false and the answer that of the depth reached, one block at least.
func (b *Beam) Choose(p *Problem, width int, c search.Clock) (at dropblox.Placement, done, ok bool) {
	depth := b.prepare(p)
	b.known, b.seen = depth, 0
	b.now = append(b.now[:0], Board{Field: p.Field, Points: p.Points, first: -1})
	lost := lastStand{first: -1}
	for k := 0; k < depth; k++ {
		if !b.grow(k, depth, width, &lost, &c) {
			if k == 0 || len(b.now) == 0 {
				break
			}
			return placement(b.now[0].first), false, true
		}
		if len(b.now) == 0 {
			break
		}
	}
	if b.over = len(b.now) == 0 || b.now[0].first < 0; b.over {
		return placement(lost.first), true, lost.first >= 0
	}
	b.last = b.keep.best
	return placement(b.now[0].first), true, true
}

// prepare sets the shapes of the known blocks and returns how many of them to search.
func (b *Beam) prepare(p *Problem) (depth int) {
	depth = p.Depth
	if depth < 1 || depth > dropblox.Known {
		depth = dropblox.Known
	}
	for k := 0; k < depth; k++ {
		if !p.Blocks[k].Fits(&Field{}) { // a block that appears outside the board: nothing is known past it
			return k
		}
		b.shapes[k] = dropblox.NewShape(&p.Blocks[k])
		b.spawn[k] = Field{}
		b.shapes[k].Put(&b.spawn[k], 0, int(b.shapes[k].Spawn.I), int(b.shapes[k].Spawn.J))
	}
	return depth
}

func placement(action int32) dropblox.Placement {
	if action < 0 {
		return dropblox.Placement{}
	}
	return dropblox.At(env.Action(action))
}

// Leaf returns the board that the line last chosen leads to; ok is false if that line ends the game.
func (b *Beam) Leaf() (leaf *Board, ok bool) {
	if b.over {
		return nil, false
	}
	return &b.now[0], true
}

// A lastStand is the line to play if every line ends the game: the longest, and of those the one with most points.
type lastStand struct {
	first  int32
	depth  int
	points int32
}

// grow puts block k on every board and keeps the best. It reports false, and changes nothing, when c stops it.
func (b *Beam) grow(k, depth, width int, lost *lastStand, c *search.Clock) bool {
	b.keep.start(width)
	for n := range b.now {
		if n&7 == 0 && k > 0 && c.Up() {
			return false
		}
		from := &b.now[n]
		b.place(k, from)
		kids := b.alive(k, depth, from, lost)
		if len(kids) == 0 {
			continue
		}
		b.seen += len(kids)
		if len(b.worth) < len(kids) {
			b.worth = make([]float32, 2*len(kids))
		}
		worth := b.worth[:len(kids)]
		b.rater.Rate(from, kids, depth-1-k, worth)
		for i := range kids {
			if worth[i] > b.keep.floor {
				b.keep.add(worth[i], int32(n), kids[i].action, kids[i].Line)
			}
		}
	}
	b.follow(k, width)
	return true
}

func (b *Beam) place(k int, from *Board) {
	shape := &b.shapes[k]
	b.kids = b.kids[:0]
	shape.Rest(&from.Field, &b.rest)
	for r := range b.rest {
		for j, set := range b.rest[r] {
			for ; set != 0; set &= set - 1 {
				i := bits.TrailingZeros64(set)
				n := len(b.kids)
				if n == cap(b.kids) {
					b.kids = append(b.kids, Kid{})
				}
				b.kids = b.kids[:n+1]
				b.kids[n].make(from, shape, r, j, i)
			}
		}
	}
}

// make sets kid to from with the shape in a place.
func (kid *Kid) make(from *Board, shape *dropblox.Shape, r, j, i int) {
	t := &shape.Turn[r]
	kid.Field, kid.Points = from.Field, from.Points
	kid.Rows, kid.Eroded, kid.Line, kid.lo, kid.end = 0, 0, 0, 0, 0
	shape.Put(&kid.Field, r, i, j)
	kid.Row = float32(i) + float32(t.Low.I+t.High.I)/2
	kid.action = int32((r*dropblox.Cols+j)*dropblox.Rows + i)
	full := kid.Field.Full(dropblox.Cols)
	if full == 0 {
		kid.lo, kid.end = int8(j)+t.Low.J, int8(j)+t.High.J+1
		return
	}
	kid.Rows = int32(bits.OnesCount64(full))
	kid.Points += 1<<uint(kid.Rows) - 1
	rows := full >> (uint(i+int(t.Low.I)) & 63)
	for _, c := range t.Column[:t.High.J-t.Low.J+1] {
		kid.Eroded += int32(bits.OnesCount64(uint64(c) & rows))
	}
	kid.Field.Clear(full)
}

// alive drops the kids on which the next block has no room, noting the best of them.
func (b *Beam) alive(k, depth int, from *Board, lost *lastStand) []Kid {
	if k+1 >= depth {
		return b.kids
	}
	shape, n := &b.shapes[k+1], 0
	lo, end := int(shape.Spawn.J+shape.Turn[0].Low.J), int(shape.Spawn.J+shape.Turn[0].High.J)+1
	spawn := b.spawn[k+1][lo:end]
	for i := range b.kids {
		kid := &b.kids[i]
		hit := uint64(0)
		for j, c := range kid.Field[lo:end] {
			hit |= c & spawn[j]
		}
		if hit == 0 {
			if n != i {
				b.kids[n] = *kid
			}
			n++
			continue
		}
		if k+1 > lost.depth || k+1 == lost.depth && kid.Points > lost.points {
			lost.depth, lost.points, lost.first = k+1, kid.Points, kid.action
			if from.first >= 0 {
				lost.first = from.first
			}
		}
	}
	return b.kids[:n]
}

// follow makes the boards that were kept, best first, each once.
func (b *Beam) follow(k, width int) {
	b.next = b.next[:0]
	var kid Kid
	for _, c := range b.keep.order() {
		from := &b.now[c.from]
		at := placement(c.action)
		kid = Kid{}
		kid.make(from, &b.shapes[k], at.R, at.J, at.I)
		if b.keep.known(&kid.Field) {
			continue
		}
		first := from.first
		if first < 0 {
			first = c.action
		}
		b.next = append(b.next, Board{Field: kid.Field, Points: kid.Points, Line: c.line, first: first})
		if len(b.next) == 1 {
			b.keep.best = c.worth
		}
		if len(b.next) == width {
			break
		}
	}
	b.now, b.next = b.next, b.now
}

var lowest = float32(math.Inf(-1)) // below every worth
