package wintetris

import (
	"encoding/binary"
	"fmt"
	"strings"

	"blockyard/env"
)

// Game is WinTetris with resting places as actions, reached tick by tick.
var Game = game("wintetris", "WinTetris-v0", Placement)

// InstantGame is WinTetris with resting places as actions, reached at once.
var InstantGame = game("wintetris:instant", "WinTetrisInstant-v0", Instant)

// TickGame is WinTetris with the bits of a tick as actions.
var TickGame = game("wintetris:tick", "WinTetrisTick-v0", Ticks)

// Paper10Game and Paper20Game are the Tetris of the literature on learning, with 10 and with 20 rows (rules §15).
var (
	Paper10Game = game("wintetris:paper10", "WinTetrisPaper10-v0", Paper10)
	Paper20Game = game("wintetris:paper20", "WinTetrisPaper20-v0", Paper20)
)

func game(name, id string, mode Mode) *env.Game {
	of := globals(mode)
	g := &env.Game{
		Name: name, ID: id, Title: "WinTetris", Rules: 1,
		MinSeats: 1, MaxSeats: 1, Rows: 1, Actions: actions, MaxLegal: MaxMoves,
		Planes: env.Shape{C: 1, H: mode.Rows(), W: Width}, PlaneMax: 1, PlaneNames: []string{"filled"},
		GlobalNames: of.Names, GlobalRanges: of.Ranges,
		New:  func(seats int) env.State { return env.Start(&State{Mode: mode}, seats, 1, 1) },
		Text: placeText, Parse: env.Parser(actions, placeText,
			"wintetris: resting place %.40q: want rR xX with R 0..3, X -2..8"),
	}
	switch mode {
	case Instant, Paper10, Paper20:
		g.MaxLegal = 34
	case Ticks:
		g.Actions, g.MaxLegal = bitSets, bitSets
		g.Planes.C, g.PlaneNames = 2, []string{"filled", "piece"}
		g.Text = tickText
		g.Parse = env.Parser(bitSets, tickText,
			"wintetris: bits %.40q: want wait, or left, right, cw, ccw, drop joined by +")
	}
	return g
}

func placeText(a env.Action) string {
	b := target(Block{}, a)
	return fmt.Sprintf("r%d x%d", b.Rot, b.X)
}

var bitNames = [5]string{"left", "right", "cw", "ccw", "drop"}

func tickText(a env.Action) string {
	if a == 0 {
		return "wait"
	}
	var on []string
	for i, name := range bitNames {
		if a>>uint(i)&1 != 0 {
			on = append(on, name)
		}
	}
	return strings.Join(on, "+")
}

const (
	placeGlobals = 2*Kinds + 1
	tickGlobals  = placeGlobals + Rotations + 3
)

func globals(mode Mode) (g env.Globals) {
	for _, of := range []string{"piece_", "next_"} {
		for _, l := range Letters {
			g.Add(env.Flag, of+string(l))
		}
		if mode.Paper() {
			return g
		}
	}
	g.Add(env.Count, "level")
	if mode == Ticks {
		g.Add(env.Flag, "rotation0", "rotation1", "rotation2", "rotation3")
		g.Add(env.Range{Low: minX, High: Width - 2}, "x")
		g.Add(env.Range{Low: -2, High: Height}, "y")
		g.Add(env.Flag, "new_piece")
	}
	return g
}

// Observe implements env.State. The plane is the settled cells, 0 or 1. The globals are the kind of this piece and of
// the next one, and the level. The mode Ticks adds a plane of the piece in play, and its rotation, column, row and
// whether it is new.
func (s *State) Observe(_ int, planes []uint8, globals []float32) {
	clear(globals)
	globals[s.Piece.Kind] = 1
	if s.Mode == Paper10 {
		var all [Height * Width]uint8
		paint(all[:], &s.Field)
		copy(planes, all[(Height-paperRows)*Width:])
		return
	}
	paint(planes[:Height*Width], &s.Field)
	if s.Mode.Paper() {
		return
	}
	globals[Kinds+s.Next] = 1
	globals[2*Kinds] = float32(s.Level())
	if s.Mode != Ticks {
		return
	}
	rest := globals[placeGlobals:tickGlobals]
	rest[s.Piece.Rot&3] = 1
	rest[4], rest[5] = float32(s.Piece.X), float32(s.Piece.Y)
	if s.New {
		rest[6] = 1
	}
	piece := planes[Height*Width : 2*Height*Width]
	clear(piece)
	corner := (Height-1-int(s.Piece.Y))*Width + int(s.Piece.X)
	for _, c := range &shapes[s.Piece.Kind][s.Piece.Rot&3].cells {
		if k := corner - int(c>>2)*Width + int(c&3); k >= 0 { // other cells are above the field
			piece[k] = 1
		}
	}
}

// paint writes a plane, the top row first. Four rows are forty cells, which are five groups of eight.
func paint(plane []uint8, f *Field) {
	y := Height - 4
	for ; y >= 0 && f.Window(y) == 0; y -= 4 {
	}
	empty := plane[:(Height-4-y)*Width]
	clear(empty)
	for plane = plane[len(empty):]; y >= 0; y -= 4 {
		rows, part := f[y:y+4], plane[:4*Width]
		cells := uint64(rows[3]) | uint64(rows[2])<<Width | uint64(rows[1])<<(2*Width) | uint64(rows[0])<<(3*Width)
		binary.LittleEndian.PutUint64(part, env.CellBytes[uint8(cells)])
		binary.LittleEndian.PutUint64(part[8:], env.CellBytes[uint8(cells>>8)])
		binary.LittleEndian.PutUint64(part[16:], env.CellBytes[uint8(cells>>16)])
		binary.LittleEndian.PutUint64(part[24:], env.CellBytes[uint8(cells>>24)])
		binary.LittleEndian.PutUint64(part[32:], env.CellBytes[uint8(cells>>32)])
		plane = plane[4*Width:]
	}
}

// Show implements env.State: the field with the piece and where it would fall, and the next piece beside it. In the
// paper's modes the piece in play stands beside the field instead.
func (s *State) Show(f *env.Frame) {
	rows, paper := s.Mode.Rows(), s.Mode.Paper()
	b := f.Add("", Width, rows)
	for y := 0; y < rows; y++ {
		for x := 0; x < Width; x++ {
			if s.Field.At(x, y) {
				b.Set(x, rows-1-y, env.Cell{Kind: env.CellSettled, Ink: 8})
			}
		}
	}
	if s.Over == Running && !paper {
		for _, c := range s.Field.Fall(s.Piece).Cells() {
			b.Set(c[0], rows-1-c[1], cell(env.CellGhost, s.Piece.Kind))
		}
	}
	for _, c := range s.Piece.Cells() {
		b.Set(c[0], rows-1-c[1], cell(env.CellPiece, s.Piece.Kind))
	}
	name, kind := "next", s.Next
	if paper {
		name, kind = "piece", s.Piece.Kind
	}
	beside := f.Add(name, 4, 4)
	at := Block{Kind: kind, Y: int8(4 - Size(kind))}
	for _, c := range at.Cells() {
		beside.Set(c[0], 3-c[1], cell(env.CellPiece, kind))
	}
	note := fmt.Sprintf("piece %d  lines %d", s.Pieces+1, s.Lines)
	f.Fact(env.Everybody, "piece", s.Pieces+1)
	if !paper {
		note += fmt.Sprintf("  level %d  points %d", s.Level(), s.Points)
		f.Fact(env.Everybody, "level", s.Level())
		f.Fact(env.Everybody, "points", s.Points)
	}
	f.Note(note)
	if s.Over != Running {
		f.Fact(env.Everybody, "over by", s.Over)
		f.Note("over by " + s.Over.String())
	}
}

// cell draws one cell of a piece.
func cell(kind env.CellKind, piece uint8) env.Cell {
	return env.Cell{Kind: kind, Letter: Letters[piece], Ink: piece + 1}
}

// Mark implements env.Marker with the place where the piece comes to rest. The actions of Ticks have none.
func (s *State) Mark(f *env.Frame, _ int, a env.Action) {
	if s.Mode == Ticks {
		return
	}
	rest := target(s.Piece, a)
	if s.Mode == Placement {
		rest = s.landing(rest, Parts)
	} else {
		rest = s.Field.Fall(rest)
	}
	b := &f.Boards[0]
	for _, c := range rest.Cells() {
		b.Set(c[0], b.H-1-c[1], cell(env.CellGhost, s.Piece.Kind))
	}
}
