package wintetris

import (
	"math"

	"blockyard/env"
)

// An End is how a game ended (rules §7).
type End uint8

// The ends of a game.
const (
	Running  End = iota
	BlockOut     // a piece appeared on filled cells
	LockOut      // a piece locked above the field
	Conflict     // a strict engine was given bits that exclude each other
)

// String returns how the game ended as records show it, "" while it runs.
func (e End) String() string { return [...]string{"", "block out", "lock out", "conflict"}[e] }

// An Engine is a game of WinTetris between two ticks. It is flat, so a copy is one assignment.
type Engine struct {
	env.Rand
	Field     Field
	Piece     Block  // piece in play
	Next      uint8  // kind of the next piece
	New       bool   // the coming tick is the piece's first
	Strict    bool   // a conflict loses the game
	Over      End    // Running while it goes on
	Points    int64  // score (rules §6)
	Ticks     uint64 // ticks played
	Lines     int32
	Pieces    int32  // locked
	Conflicts uint32 // ticks whose bits excluded each other
	Blocked   uint32 // turns and shifts that were blocked
}

// Start begins a new game. It keeps Strict and forced draws.
func (e *Engine) Start(seed uint64) {
	*e = Engine{Rand: e.Rand, Strict: e.Strict}
	e.Restart(seed)
	e.Next = e.draw()
	e.spawn()
	e.End()
}

// Level returns the level (rules §6).
func (e *Engine) Level() int { return 1 + int(e.Lines)/10 }

// Upcoming returns the next piece where it will appear.
func (e *Engine) Upcoming() Block { return Spawn(e.Next) }

// Tick plays a tick with a solver's bits (rules §5), unless the game is over, and reports whether the piece locked.
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
		e.Conflicts++
		if e.Strict {
			e.Over = Conflict
			return false
		}
		if b&(Left|Right) == Left|Right {
			b &^= Left | Right
		}
		if b&(CW|CCW) == CW|CCW {
			b &^= CW | CCW
		}
	}
	p := e.steer(b)
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

// steer returns the piece after the turn and the shift of bits that do not exclude each other.
func (e *Engine) steer(b Bits) Block {
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
	return p
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

// draw returns the next forced kind, or one from the generator of the rules (rules §11).
func (e *Engine) draw() uint8 {
	if e.Used < e.Forced || e.Used >= env.MaxDraws {
		return uint8(e.Draw(Kinds))
	}
	kind := (e.Rand.Next() >> 33) % Kinds
	e.Queue[e.Used] = uint16(kind)
	e.Used++
	e.Forced = e.Used
	return uint8(kind)
}

// Place moves a piece that has just appeared to a target, as the demo solver does: bits 0 for
// parts-1 ticks, then the placer's bits until the piece locks, wherever that is.
func (e *Engine) Place(target Block, parts int) {
	ticks, locked := e.glide(target, parts)
	for k := ticks + 1; !locked && e.Over == Running; k++ {
		bits := Bits(0)
		if k >= parts {
			bits = Toward(e.Piece, target)
		}
		locked = e.tick(bits)
	}
}

// glide plays at once those ticks of Place in which all rows that the piece passes are empty, and
// returns their number. If the piece then is above its target, glide also drops it.
func (e *Engine) glide(target Block, parts int) (ticks int, locked bool) {
	p := e.Piece
	turns, dx := int(target.Rot-p.Rot)&3, int(target.X-p.X)
	way := max(max(dx, -dx), turns)
	if turns == 3 {
		way = max(max(dx, -dx), 1)
	}
	top := e.Field.Top()
	free := int(p.Y) - top
	if ticks = parts - 1 + way; ticks <= free {
		p.Rot, p.X = target.Rot, target.X
		p.Y = int8(top) - shapes[p.Kind][p.Rot].low
		e.Piece = e.Field.Fall(p)
		e.Ticks += uint64(ticks) + 1
		e.New = false
		e.lock()
		return ticks + 1, true
	}
	if free <= 0 {
		return 0, false
	}
	if moves := free - parts + 1; moves > 0 {
		if turns == 3 {
			turns = -1
		}
		p = p.Turned(min(turns, moves)).Moved(max(min(dx, moves), -moves), 0)
	}
	e.Piece = p.Moved(0, -free)
	e.Ticks += uint64(free)
	e.New = false
	return free, false
}

// landing returns where Place lets the piece rest. It falls while it turns and shifts: a tall stack can stop it.
func (e Engine) landing(target Block, parts int) Block {
	for k := 1; ; k++ {
		bits := Bits(0)
		if k >= parts {
			bits = Toward(e.Piece, target)
		}
		p := e.steer(bits)
		down := p.Moved(0, -1)
		if bits&Drop != 0 || !e.Field.Fits(down) {
			return e.Field.Fall(p)
		}
		e.Piece = down
	}
}

// TickMS returns how long a tick lasts at a level, in milliseconds (rules §6). Games without a clock ignore it.
func TickMS(level int) float64 { return math.Max(50, 500*math.Pow(0.9, float64(level-1))) }
