package wintetris

import "blockyard/env"

// An End is how a game ended (rules §7).
type End uint8

// The ends of a game.
const (
	Running  End = iota
	BlockOut     // a piece appeared on filled cells
	LockOut      // a piece locked above the field
	Conflict     // a strict engine was given bits that exclude each other
)

// String names the end in two words at most.
func (e End) String() string { return [...]string{"", "block out", "lock out", "conflict"}[e] }

// An Engine is a game of WinTetris between two ticks: the piece in play is there already.
// It is flat: a copy is one assignment.
type Engine struct {
	env.Rand
	Field     Field
	Piece     Block  // in play, where it is now
	Next      uint8  // kind of the piece after it
	New       bool   // the coming tick is the piece's first
	Strict    bool   // a conflict loses the game
	Over      End    // Running while it goes on
	Points    int64  // score (rules §6)
	Ticks     uint64 // ticks played
	Lines     int32
	Pieces    int32  // locked
	Conflicts uint32 // ticks whose bits excluded each other
	Blocked   uint32 // turns and shifts that were asked for and blocked
}

// Start begins a new game; it keeps Strict, and draws that were forced.
func (e *Engine) Start(seed uint64) {
	queue, forced, strict := e.Queue, e.Forced, e.Strict
	*e = Engine{Strict: strict}
	e.Seed(seed)
	e.Queue, e.Forced = queue, forced
	e.Begin()
	e.Next = e.draw()
	e.spawn()
	e.End()
}

// Level returns the level (rules §6).
func (e *Engine) Level() int { return 1 + int(e.Lines)/10 }

// Upcoming returns the next piece where it will appear.
func (e *Engine) Upcoming() Block { return Spawn(e.Next) }

// Tick plays one tick with a solver's bits (rules §4); nothing happens once the game is
// over. It reports whether the piece locked.
func (e *Engine) Tick(b Bits) (locked bool) {
	e.Begin()
	locked = e.Over == Running && e.tick(b)
	e.Rand.End()
	return locked
}

func (e *Engine) tick(b Bits) (locked bool) {
	e.Ticks++
	e.New = false
	if b&(Left|Right) == Left|Right || b&(CW|CCW) == CW|CCW {
		if b = e.resolve(b); e.Over != Running {
			return false
		}
	}
	p := e.Piece
	if b&(CW|CCW) != 0 {
		by := 1
		if b&CCW != 0 {
			by = -1
		}
		p = e.try(p, p.Turned(by))
	}
	if b&(Left|Right) != 0 {
		dx := 1
		if b&Left != 0 {
			dx = -1
		}
		p = e.try(p, p.Moved(dx, 0))
	}
	if b&Drop != 0 {
		e.Piece = e.Field.Fall(p)
		e.lock()
		return true
	}
	if down := p.Moved(0, -1); e.Field.Fits(down) {
		e.Piece = down
		return false
	}
	e.Piece = p
	e.lock()
	return true
}

// resolve counts a conflict and takes the bits that exclude each other away.
func (e *Engine) resolve(b Bits) Bits {
	e.Conflicts++
	if e.Strict {
		e.Over = Conflict
	}
	if b&(Left|Right) == Left|Right {
		b &^= Left | Right
	}
	if b&(CW|CCW) == CW|CCW {
		b &^= CW | CCW
	}
	return b
}

// try returns the block moved if it fits there, else as it was.
func (e *Engine) try(b, moved Block) Block {
	if e.Field.Fits(moved) {
		return moved
	}
	e.Blocked++
	return b
}

var rowPoints = [5]int64{0, 40, 100, 300, 1200}

// lock writes the piece, takes full rows out and brings the next piece.
func (e *Engine) lock() {
	e.Pieces++
	if !e.Piece.Inside() {
		e.Over = LockOut
		return
	}
	rows := e.Field.Put(e.Piece)
	e.Points += rowPoints[rows] * int64(e.Level())
	e.Lines += int32(rows)
	e.spawn()
}

// spawn makes the next piece the one in play and draws another.
func (e *Engine) spawn() {
	e.Piece = Spawn(e.Next)
	e.Next = e.draw()
	e.New = true
	if !e.Field.Fits(e.Piece) {
		e.Over = BlockOut
	}
}

// draw draws a kind from the rules' generator (rules §3), or the one forced.
func (e *Engine) draw() uint8 {
	if e.Used >= e.Forced && e.Used < env.MaxDraws {
		e.Queue[e.Used] = uint16((e.Rand.Next() >> 33) % Kinds)
		e.Forced = e.Used + 1
	}
	return uint8(e.Draw(Kinds))
}

// Place carries a piece just come to a target, as the demo solver does: nothing for parts-1
// ticks, then the placer's bits until the piece locks, wherever that is.
func (e *Engine) Place(target Block, parts int) {
	if e.glide(target, parts) {
		return
	}
	for k := 1; e.Over == Running; k++ {
		bits := Bits(0)
		if k >= parts {
			bits = Toward(e.Piece, target)
		}
		if e.tick(bits) {
			return
		}
	}
}

// glide is Place where all rows the piece comes through before it drops are empty.
func (e *Engine) glide(target Block, parts int) bool {
	p := e.Piece
	ticks := most(int(p.X-target.X), int(target.X-p.X))
	if turns := int(target.Rot-p.Rot) & 3; turns == 3 {
		ticks = most(ticks, 1)
	} else {
		ticks = most(ticks, turns)
	}
	ticks += parts - 1
	top := e.Field.Top()
	if int(p.Y)-ticks < top {
		return false
	}
	p.Rot, p.X = target.Rot, target.X
	p.Y = int8(top) - shapes[p.Kind][p.Rot].low
	e.Piece = e.Field.Fall(p)
	e.Ticks += uint64(ticks) + 1
	e.New = false
	e.lock()
	return true
}

// Wait lets a piece come down by itself.
func (e *Engine) Wait() {
	for e.Over == Running && !e.tick(0) {
	}
}
