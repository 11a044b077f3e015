package tetrisduel

import (
	_ "embed"
	"encoding/binary"
	"fmt"

	"blockyard/env"
	"blockyard/env/falling"
)

// Game is the Tetris duel.
var Game = &env.Game{
	Name: "tetrisduel", ID: "TetrisDuel-v0", Title: "Tetris Duel", Rules: 1,
	MinSeats: 2, MaxSeats: 2, Rows: 1, Actions: Actions, MaxLegal: maxLegal,
	Planes: env.Shape{C: 1, H: Height, W: Width}, PlaneMax: 1, PlaneNames: []string{"filled"},
	GlobalNames: allGlobals.Names, GlobalRanges: allGlobals.Ranges,
	Potential: []env.Term{{Global: "own_points", Weight: 0.02}, {Global: "opponent_points", Weight: -0.02}},
	New:       func(seats int) env.State { return env.Start(&State{}, seats, 2, 2) },
	Text:      Text, Parse: Parse,
}

// Text returns an action as "y x d".
func Text(a env.Action) string {
	p := At(a)
	return fmt.Sprintf("%d %d %d", p.Y, p.X, p.D)
}

// Parse is the inverse of Text.
var Parse = env.Parser(Actions, Text, "tetrisduel: placement %q: want y x d with y 0..14, x 0..9, d 0..3")

const trayAhead = 4 // blocks after the current one in the tray

// Show implements env.State: the board with both zones, points and combo, and the blocks to come.
func (s *State) Show(f *env.Frame) {
	b := f.Add("seat 1 (red) falls down, seat 2 (blue) up", Width, Height)
	for y := 0; y < Height; y++ {
		for x := 0; x < Width; x++ {
			if s.Cells.At(x, y) {
				b.Set(x, y, env.Cell{Kind: env.CellSettled, Ink: 8})
			} else {
				b.Set(x, y, zone(y))
			}
		}
	}
	f.Note(fmt.Sprintf("half-turn %d  %s plays %c  points %d:%d  combo %d",
		s.Turn, seatNames[s.Mover()], Letters[s.Block(int(s.Turn))], s.Points[0], s.Points[1], s.Combo))
	f.Fact(env.Everybody, "half-turn", fmt.Sprintf("%d of %d", s.Turn, HalfTurns))
	f.Fact(env.Everybody, "combo", s.Combo)
	if s.Reason != Running {
		f.Fact(env.Everybody, "over by", s.Reason)
	}
	switch {
	case s.Reason == Running:
	case s.Winner == Nobody:
		f.Note(fmt.Sprintf("over by %s: a draw", s.Reason))
	default:
		f.Note(fmt.Sprintf("over by %s: %s wins", s.Reason, seatNames[s.Winner]))
	}
	t := f.Tray("now and next", env.Everybody)
	for i := 0; s.Reason == Running && i <= trayAhead && int(s.Turn)+i <= HalfTurns; i++ {
		kind := s.Block(int(s.Turn) + i)
		cells := Cells(kind, 0)
		t.Add(cell(env.CellPiece, kind), len(cells), func(k int) (x, y int) { return int(cells[k].X), int(cells[k].Y) })
	}
}

// People count seats from 1. The first is red and the second blue (rules §2).
var (
	seatNames = [2]string{"seat 1 (red)", "seat 2 (blue)"}
	seatInks  = [2]uint8{15, 2}
)

// zone draws an empty cell of row y in seat 1's frame: the zone R, M or B (rules §2).
func zone(y int) env.Cell {
	switch {
	case y < Peace:
		return env.Cell{Ink: seatInks[0]}
	case y < Reachable:
		return env.Cell{Kind: env.CellZone}
	}
	return env.Cell{Ink: seatInks[1]}
}

// cell draws one cell of a block.
func cell(kind env.CellKind, block int) env.Cell {
	return env.Cell{Kind: kind, Letter: Letters[block], Ink: uint8(block + 1)}
}

// Mark implements env.Marker. The block has the colour of its seat.
func (s *State) Mark(f *env.Frame, seat int, a env.Action) {
	p, kind := At(a), s.Block(int(s.Turn))
	for _, c := range Cells(kind, p.D) {
		x, y := p.X+int(c.X), p.Y+int(c.Y)
		if seat == 1 {
			x, y = Width-1-x, Height-1-y
		}
		f.Boards[0].Set(x, y, env.Cell{Kind: env.CellGhost, Letter: Letters[kind], Ink: seatInks[seat]})
	}
}

// Rulebook is the rules of the game for people, as Markdown.
//
//go:embed RULES.md
var Rulebook string

const (
	ahead      = 8 // blocks after the current one in an observation
	numGlobals = (1+ahead)*Kinds + 7
)

var allGlobals = func() (g env.Globals) {
	for i := 0; i <= ahead; i++ {
		for _, l := range Letters {
			g.Add(env.Flag, fmt.Sprintf("block%d_%c", i, l))
		}
	}
	half := env.Range{High: HalfTurns}
	g.Add(env.Flag, "to_move")
	g.Add(env.Count, "own_points", "opponent_points")
	g.Add(half, "combo")
	g.Add(env.Flag, "battle_cleared")
	g.Add(half, "half_turns_left")
	g.Add(env.Flag, "first")
	return g
}()

// Observe implements env.State. The plane is the board as the seat sees it, turned by half for seat 1. The globals are
// the kinds of the current block and the eight after it, whether the seat is to move, both sides' points, the combo,
// whether the battle zone was cleared, the half-turns left and whether the seat begins.
func (s *State) Observe(seat int, planes []uint8, globals []float32) {
	paint(planes, &s.Cells, seat == 1)
	globals = globals[:numGlobals]
	clear(globals)
	for i := 0; i <= ahead && int(s.Turn)+i <= HalfTurns; i++ {
		globals[i*Kinds+s.Block(int(s.Turn)+i)] = 1
	}
	rest := globals[(1+ahead)*Kinds:]
	if s.Acting().Has(seat) {
		rest[0] = 1
	}
	rest[1], rest[2] = float32(s.Points[seat]), float32(s.Points[1-seat])
	rest[3] = float32(s.Combo)
	if s.Flag {
		rest[4] = 1
	}
	rest[5] = float32(HalfTurns - s.Turn + 1)
	rest[6] = float32(1 - seat)
}

// paint writes the board row by row, one byte per cell, from the end if turned. Eight rows of eight columns are a word
// with one byte per column, whose lowest bits are a row's eight bytes.
func paint(planes []uint8, board *falling.Field, turned bool) {
	planes = planes[:Width*Height]
	c, at, step := *board, 0, Width
	if turned {
		for x := 0; x < Width/2; x++ {
			c[x], c[Width-1-x] = c[Width-1-x], c[x]
		}
		at, step = Width*(Height-1), -Width
	}
	for y := uint(0); y < Height; y += 8 {
		block := c[0]>>y&0xFF | c[1]>>y&0xFF<<8 | c[2]>>y&0xFF<<16 | c[3]>>y&0xFF<<24 |
			c[4]>>y&0xFF<<32 | c[5]>>y&0xFF<<40 | c[6]>>y&0xFF<<48 | c[7]>>y&0xFF<<56
		edge := c[8]>>y&0xFF | c[9]>>y&0xFF<<8
		for i := y; i < y+8 && i < Height; i++ {
			row := planes[at : at+Width : at+Width]
			binary.LittleEndian.PutUint64(row, block&0x0101010101010101)
			binary.LittleEndian.PutUint16(row[8:], uint16(edge&0x0101))
			block, edge, at = block>>1, edge>>1, at+step
		}
	}
}
