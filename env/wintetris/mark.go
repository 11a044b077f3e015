package wintetris

import "blockyard/env"

// Mark implements env.Marker: where the piece is to rest. A choice of bits has no such place.
func (s *State) Mark(f *env.Frame, _ int, a env.Action) {
	if s.Mode == Ticks {
		return
	}
	b := &f.Boards[0]
	for _, c := range s.Field.Fall(target(s.Piece, a)).Cells() {
		b.Set(c[0], Height-1-c[1], cell(env.CellGhost, s.Piece.Kind))
	}
}
