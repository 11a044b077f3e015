package dropblox

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"strings"

	"blockyard/env"
)

// Game is Dropblox.
var Game = &env.Game{
	Name: "dropblox", ID: "Dropblox-v0", Title: "Dropblox", Rules: 1,
	MinSeats: 1, MaxSeats: 1, Rows: 1, Actions: numActions, MaxLegal: maxLegal,
	Planes: env.Shape{C: 1 + Known, H: Rows, W: Cols}, PlaneMax: 1,
	PlaneNames:  []string{"taken", "block", "preview1", "preview2", "preview3", "preview4", "preview5"},
	GlobalNames: allGlobals.Names, GlobalRanges: allGlobals.Ranges,
	New:  func(seats int) env.State { return env.Start(&State{}, seats, 1, 1) },
	Text: Text, Parse: env.Parser(numActions, Text, "dropblox: placement %q: want row 0..32, column 0..11, turns 0..3"),
}

// Text returns an action as "row column turns" of the block's centre.
func Text(a env.Action) string {
	p := At(a)
	return fmt.Sprintf("%d %d %d", p.I, p.J, p.R)
}

var allGlobals = func() (g env.Globals) {
	g.Add(env.Count, "score", "turns")
	for k := 0; k < Known; k++ {
		g.Add(env.Range{High: MaxSize}, fmt.Sprintf("size%d", k))
	}
	g.Add(env.Range{High: MaxSize}, "mean_size")
	return g
}()

// Show implements env.State. Free hidden rows are CellZone. The letter of a block is its size, from A.
func (s *State) Show(f *env.Frame) { s.ShowWith(f, s.Block(0)) }

// ShowWith is Show with the block in play where commands have led it.
func (s *State) ShowWith(f *env.Frame, block Block) {
	board := f.Add("dropblox", Cols, Rows)
	for i := range s.Cells {
		for j, v := range s.Cells[i] {
			if v != 0 {
				board.Set(j, i, env.Cell{Kind: env.CellSettled, Ink: Ink(int(v) - 1)})
			} else if i < Hidden {
				board.Set(j, i, env.Cell{Kind: env.CellZone})
			}
		}
	}
	ghost := block
	if !s.Failed {
		ghost.Drop(&s.Taken)
		paint(board, &ghost, env.CellGhost)
	}
	paint(board, &block, env.CellPiece)
	for k := 1; k < Known; k++ {
		b := s.Block(k)
		low := NewShape(&b).Turn[0].Low
		b.Center = Cell{-low.I, -low.J}
		paint(f.Add(fmt.Sprintf("next %d", k), 10, 10), &b, env.CellPiece)
	}
	f.Note(fmt.Sprintf("turn %d  score %d  block %s", s.Turns, s.Points, block.String()))
	f.Fact(env.Everybody, "blocks placed", s.Turns)
	if s.Failed {
		f.Fact(env.Everybody, "over by", "a block without room")
		f.Note("over")
	}
}

// Mark implements env.Marker: the block where the action puts it.
func (s *State) Mark(f *env.Frame, _ int, a env.Action) {
	p, b := At(a), s.Block(0)
	b.Center = Cell{I: int8(p.I), J: int8(p.J)}
	b.rotate(p.R)
	paint(&f.Boards[0], &b, env.CellGhost)
}

// Answer implements env.Answerer with the shortest commands, separated by blanks: none for a block that only drops.
func (s *State) Answer(_ int, a env.Action) string {
	var words []string
	commands, _ := s.Path(a, nil)
	for _, c := range commands {
		words = append(words, c.String())
	}
	return strings.Join(words, " ")
}

// paint draws a block in its place.
func paint(board *env.Board, b *Block, kind env.CellKind) {
	t := int(b.Type)
	cell := env.Cell{Kind: kind, Letter: byte('A' + SizeOf(t) - 1), Ink: Ink(t)}
	for _, o := range b.Cells() {
		board.Set(int(b.Center.J+o.J), int(b.Center.I+o.I), cell)
	}
}

// Ink returns a block's colour, 1 to 15: by type for small blocks and by size for larger ones.
func Ink(t int) uint8 {
	if t < limits[0] {
		return uint8(1 + t%10)
	}
	return uint8(5 + SizeOf(t))
}

// Rulebook is the rules of the game for people, as Markdown.
//
//go:embed RULES.md
var Rulebook string

// Observe implements env.State. The planes, of 0 and 1, are the taken squares and then each known block where it
// appears. The globals are the points, the turns, the number of squares of each known block and the mean size of a
// block drawn at these points.
func (s *State) Observe(_ int, planes []uint8, globals []float32) {
	const board = Rows * Cols
	planes = planes[:(1+Known)*board]
	zero(planes)
	squares(&s.Taken, planes[:board])
	globals = globals[:2+Known+1]
	globals[0], globals[1] = float32(s.Points), float32(s.Turns)
	for k, t := range s.Blocks {
		plane := planes[(1+k)*board:][:board]
		if int(t) < len(stocks) {
			b := &stocks[t]
			for _, at := range b.spots[:b.block.Size] {
				plane[at] = 1
			}
			globals[2+k] = float32(b.block.Size)
			continue
		}
		b := BlockOf(int(t))
		for _, o := range b.Cells() {
			plane[b.spot(o)] = 1
		}
		globals[2+k] = float32(b.Size)
	}
	globals[2+Known] = meanSize(int(s.Points))
}

// zero clears planes. It is not inlined: with a length that the compiler knows, it would clear 16 bytes at a time.
//
//go:noinline
func zero(planes []uint8) {
	clear(planes)
}

// squares writes the taken squares to a plane of zeros. It takes eight rows of eight or four columns at a time, as the
// bytes of a word: a bit of each is a row.
func squares(f *Field, plane []uint8) {
	const bit = 0x0101010101010101
	any := f.Any()
	for top := Rows - 8; top > 0 && any&(1<<uint(top+8)-1) != 0; top -= 8 {
		by := uint(top)
		left := f[0]>>by&255 | f[1]>>by&255<<8 | f[2]>>by&255<<16 | f[3]>>by&255<<24 |
			f[4]>>by&255<<32 | f[5]>>by&255<<40 | f[6]>>by&255<<48 | f[7]>>by<<56
		right := f[8]>>by&255 | f[9]>>by&255<<8 | f[10]>>by&255<<16 | f[11]>>by<<24
		rows := plane[top*Cols:][:8*Cols]
		for ; len(rows) >= Cols; rows = rows[Cols:] {
			binary.LittleEndian.PutUint64(rows, left&bit)
			binary.LittleEndian.PutUint32(rows[8:], uint32(right&bit))
			left, right = left>>1, right>>1
		}
	}
	for j, c := range f[:Cols] { // the first row
		plane[j] = uint8(c & 1)
	}
}
