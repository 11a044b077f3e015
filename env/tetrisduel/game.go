package tetrisduel

import (
	"fmt"

	"blockyard/env"
)

// Game is the Tetris duel.
var Game = &env.Game{
	Name:         "tetrisduel",
	ID:           "TetrisDuel-v0",
	Title:        "Tetris Duel",
	Rules:        1,
	MinSeats:     2,
	MaxSeats:     2,
	Rows:         1,
	Actions:      Actions,
	MaxLegal:     maxLegal,
	Planes:       env.Shape{C: 1, H: Height, W: Width},
	PlaneMax:     1,
	PlaneNames:   []string{"filled"},
	GlobalNames:  allGlobals.Names,
	GlobalRanges: allGlobals.Ranges,
	New:          func(seats int) env.State { return env.Start(&State{}, seats, 2, 2) },
	Text:         Text,
	Parse:        Parse,
}

// Text returns an action as "y x d".
func Text(a env.Action) string {
	p := At(a)
	return fmt.Sprintf("%d %d %d", p.Y, p.X, p.D)
}

// Parse is the inverse of Text.
func Parse(text string) (env.Action, error) {
	var p Placement
	fmt.Sscanf(text, "%d %d %d", &p.Y, &p.X, &p.D)
	if a := p.Action(); a < Actions && Text(a) == text {
		return a, nil
	}
	return env.None, fmt.Errorf("tetrisduel: placement %q: want y x d with y 0..14, x 0..9, d 0..3", text)
}

const trayAhead = 4 // blocks after the current one in the tray

// Show implements env.State.
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
