package blockbattle

import (
	"fmt"

	"blockyard/env"
)

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

// Mark implements env.Marker.
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
