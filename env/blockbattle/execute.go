package blockbattle

import "blockyard/env/falling"

// A Landing is the effect of an answer on a piece: where it came to rest, or that it was skipped.
type Landing struct {
	Piece   int
	Rot     int  // orientation 0..3
	X, Y    int  // the box's top left corner
	TSpin   bool // judged by rules §6.2
	Skipped bool // the piece was discarded at X, Y, Rot
	Loose   bool // the answer ended above the resting place and the piece fell
	Played  int  // tokens of the answer up to the one that locked or skipped the piece
}

// done is an executed token with the box before and after it.
type done struct {
	token         Token
	before, after box
}

// A box is where the box of a piece is: the column and row of its top left corner, and the rotation o (rules §3).
type box struct{ x, y, o int }

// A walker executes tokens on one side as the rules are written (rules §4.2, §4.3).
type walker struct {
	side   *Side
	piece  int
	at     box
	locked bool
}

func (w *walker) hits(b box, walls bool) bool {
	for _, c := range pieces[w.piece].Cells[b.o] {
		x, y := b.x+int(c.X), b.y+int(c.Y)
		if walls && (x < 0 || x >= Width) || y >= w.side.floor() {
			return true
		}
		if y >= 0 && w.side.Cells.At(x, y) {
			return true
		}
	}
	return false
}

func (w *walker) down() {
	next := w.at
	next.y++
	if w.hits(next, false) {
		w.locked = true
	} else {
		w.at = next
	}
}

// A run is the effect of an answer's tokens.
type run struct {
	trace   []done
	refused []int // indices of tokens whose shift or turn was blocked
	skipped bool
	surplus bool // a token followed after the piece had locked
}

// do executes one token and reports whether it was refused.
func (w *walker) do(t Token) (refused bool) {
	next := w.at
	switch t {
	case Left, Right:
		next.x += int(t)*2 - 1
	case TurnLeft, TurnRight:
		next.o = (next.o + 3 - 2*int(t-TurnLeft)) % 4
	case Down:
		w.down()
		return false
	case Drop:
		for !w.locked {
			w.down()
		}
		return false
	case Skip:
		w.locked = w.side.Skips > 0
		return false
	}
	if !w.hits(next, true) {
		w.at = next
		return false
	}
	if t == Left || t == Right {
		w.down()
	}
	return true
}

// run executes tokens until the piece locks or is skipped.
func (w *walker) run(tokens []Token) (r run) {
	for i, t := range tokens {
		if w.locked {
			r.surplus = true
			break
		}
		before := w.at
		if w.do(t) {
			r.refused = append(r.refused, i)
		}
		r.trace = append(r.trace, done{t, before, w.at})
		if t == Skip {
			r.skipped = w.locked
			break
		}
	}
	return r
}

// Execute plays an answer's tokens. refused lists the indices of tokens whose shift or turn was blocked.
func Execute(side *Side, piece int, tokens []Token, rules Rules) (land Landing, refused []int) {
	w := walker{side: side, piece: piece, at: box{SpawnX(piece), -1, 0}}
	r := w.run(tokens)
	return w.land(&r, rules), r.refused
}

// land lets the piece fall after the tokens of r, which are all of an answer.
func (w *walker) land(r *run, rules Rules) Landing {
	y := w.at.y
	for !w.locked {
		w.down()
	}
	l := Landing{Piece: w.piece, Rot: w.at.o, X: w.at.x, Y: w.at.y, Skipped: r.skipped, Loose: w.at.y != y,
		Played: len(r.trace)}
	l.TSpin = l.Piece == T && !r.skipped && !l.Loose && len(r.trace) >= 2 &&
		corners(&w.side.Cells, l.X, l.Y) == 3 && spun(r.trace, w.at, r.surplus, rules)
	return l
}

// corners counts the blocks in the corners of a 3x3 box (rules §6.2, condition 3).
func corners(f *falling.Field, x, y int) int {
	n := 0
	for _, c := range [4][2]int{{0, 0}, {2, 0}, {0, 2}, {2, 2}} {
		cx, cy := x+c[0], y+c[1]
		if cx >= 0 && cx < Width && cy >= 0 && cy < Height && f.At(cx, cy) {
			n++
		}
	}
	return n
}

// spun reports whether the executed tokens meet conditions 2 and 4 of rules §6.2.
func spun(trace []done, rest box, surplus bool, rules Rules) bool {
	if surplus && rules&PortTokens != 0 {
		return false
	}
	turned := func(t Token) bool { return t == TurnLeft || t == TurnRight }
	decider := len(trace) - 1
	if a, b := trace[decider], trace[decider-1]; !turned(a.token) {
		if a.token != Down && a.token != Drop || !turned(b.token) {
			return false
		}
		if a.before != rest && !(rules&LateToken != 0 && surplus) {
			return false
		}
		decider--
	}
	if rules&NetTurn == 0 {
		return true
	}
	first := decider
	for first > 0 && turned(trace[first-1].token) {
		first--
	}
	return trace[first].before.o != trace[decider].after.o
}
