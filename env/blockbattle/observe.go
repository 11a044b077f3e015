package blockbattle

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"blockyard/env"
)

// Values of cells in observation planes.
const (
	CellEmpty = 0
	CellBlock = 1
	CellSolid = 2
)

// numGlobals is the number of globals; the package comment lists them.
const numGlobals = 2*Pieces + 2*7 + 1

var allGlobals = func() (g env.Globals) {
	for _, which := range []string{"piece_", "next_"} {
		for _, l := range Letters {
			g.Add(env.Flag, which+string(l))
		}
	}
	for _, who := range []string{"own_", "opponent_"} {
		g.Add(env.Count, who+"points")
		g.Add(env.Range{High: PerGarbage - 1}, who+"points_mod3")
		g.Add(env.Count, who+"combo", who+"skips")
		g.Add(env.Range{High: Height}, who+"solid", who+"pending", who+"height")
	}
	g.Add(env.Range{High: SolidInterval - 1}, "rounds_to_solid")
	return g
}()

// Observe implements env.State. The planes are the seat's own field and the opponent's, cells CellEmpty to CellSolid.
// The globals are the current and the next piece, seven numbers for each side, and the rounds until the next solid
// row.
func (s *State) Observe(seat int, planes []uint8, globals []float32) {
	own, opp := &s.Sides[seat], &s.Sides[1-seat]
	own.paint(planes[:Width*Height])
	opp.paint(planes[Width*Height : 2*Width*Height])
	globals = globals[:numGlobals]
	clear(globals[:2*Pieces])
	globals[s.Piece] = 1
	globals[Pieces+s.Next] = 1
	own.numbers(globals[2*Pieces : 2*Pieces+7])
	opp.numbers(globals[2*Pieces+7 : 2*Pieces+14])
	globals[numGlobals-1] = float32((SolidInterval - s.Round%SolidInterval) % SolidInterval)
}

func (s *Side) numbers(out []float32) {
	out = out[:7]
	out[0] = float32(s.Points)
	out[1] = float32(s.Points % PerGarbage)
	out[2] = float32(s.Combo)
	out[3] = float32(s.Skips)
	out[4] = float32(s.Solid)
	out[5] = float32(s.Pending)
	out[6] = float32(s.Height())
}

// Height returns the height in rows of the stack above the solid rows.
func (s *Side) Height() int {
	any := s.Cells.Any()
	if any == 0 {
		return 0
	}
	return s.floor() - bits.TrailingZeros64(any)
}

// paint writes the board row by row, one byte per cell. Eight rows of the first eight columns are a word with one
// byte per column, whose lowest bits are a row's eight bytes.
func (s *Side) paint(out []uint8) {
	out = out[:Width*Height]
	c := &s.Cells
	for y := 0; y < Height; y += 8 {
		at := uint(y)
		block := c[0]>>at&0xFF | c[1]>>at&0xFF<<8 | c[2]>>at&0xFF<<16 | c[3]>>at&0xFF<<24 |
			c[4]>>at&0xFF<<32 | c[5]>>at&0xFF<<40 | c[6]>>at&0xFF<<48 | c[7]>>at&0xFF<<56
		edge := c[8]>>at&0xFF | c[9]>>at&0xFF<<8
		for i := y; i < y+8 && i < Height; i++ {
			row := out[i*Width : i*Width+Width : i*Width+Width]
			binary.LittleEndian.PutUint64(row, block&0x0101010101010101)
			binary.LittleEndian.PutUint16(row[8:], uint16(edge&0x0101))
			block, edge = block>>1, edge>>1
		}
	}
	for i := s.floor() * Width; i < len(out); i++ {
		out[i] = CellSolid
	}
}

// Show implements env.State: both fields side by side, with points, combo and skips, and the current and next piece.
func (s *State) Show(f *env.Frame) {
	for i := range s.Sides {
		s.Sides[i].show(f.Add([2]string{"player1", "player2"}[i], Width, Height), s)
	}
	f.Note(s.summary())
	f.Fact(env.Everybody, "round", s.Round)
	for i := range s.Sides {
		d := &s.Sides[i]
		if d.Lost != NotLost {
			f.Fact(i, "lost by", d.Lost)
		}
		f.Fact(i, "combo", d.Combo)
		f.Fact(i, "skips", d.Skips)
	}
	if !s.Over {
		tray(f, "now and next", int(s.Piece), int(s.Next))
	}
}

// Inks are 1..7 for the pieces in the order of Letters, and these.
const (
	inkBlock = 8
	inkSolid = 9
)

func (s *Side) show(b *env.Board, st *State) {
	for y := 0; y < Height; y++ {
		for x := 0; x < Width; x++ {
			switch {
			case y >= s.floor():
				b.Set(x, y, env.Cell{Kind: env.CellWall, Ink: inkSolid})
			case s.Cells.At(x, y):
				b.Set(x, y, env.Cell{Kind: env.CellSettled, Ink: inkBlock})
			}
		}
	}
	if st.Over {
		return
	}
	p := int(st.Piece)
	for _, c := range pieces[p].Cells[0] {
		b.Set(SpawnX(p)+int(c.X), int(c.Y)-1, cell(env.CellPiece, p))
	}
}

// summary returns one line with round, pieces, points and result.
func (s *State) summary() string {
	text := fmt.Sprintf("round %d  piece %c  next %c", s.Round, Letters[s.Piece], Letters[s.Next])
	for i := range s.Sides {
		d := &s.Sides[i]
		text += fmt.Sprintf("  | player%d: %d points, combo %d, skips %d", i+1, d.Points, d.Combo, d.Skips)
		if d.Lost != NotLost {
			text += ", lost by " + d.Lost.String()
		}
	}
	switch {
	case s.Over && s.Winner == Nobody:
		text += "  | draw"
	case s.Over:
		text += fmt.Sprintf("  | player%d wins", s.Winner+1)
	}
	return text
}

// Mark implements env.Marker: it draws the piece where the action puts it. A skip draws nothing.
func (s *State) Mark(f *env.Frame, seat int, a env.Action) {
	if a >= SkipAction {
		return
	}
	l := s.Landing(seat, a)
	for _, c := range pieces[l.Piece].Cells[l.Rot] {
		f.Boards[seat].Set(l.X+int(c.X), l.Y+int(c.Y), cell(env.CellGhost, l.Piece))
	}
}

// cell draws one cell of a piece.
func cell(kind env.CellKind, piece int) env.Cell {
	return env.Cell{Kind: kind, Letter: Letters[piece], Ink: uint8(piece + 1)}
}

// tray adds a tray of pieces.
func tray(f *env.Frame, name string, pieces ...int) {
	t := f.Tray(name, env.Everybody)
	for _, p := range pieces {
		cells := &boxes[p].cells
		t.Add(cell(env.CellPiece, p), len(cells), func(k int) (x, y int) { return int(cells[k].X), int(cells[k].Y) })
	}
}
