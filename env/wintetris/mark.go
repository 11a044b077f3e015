package wintetris

import "blockyard/env"

// Mark implements env.Marker with the resting place. The actions of Ticks have none.
func (s *State) Mark(f *env.Frame, _ int, a env.Action) {
	if s.Mode == Ticks {
		return
	}
	b := &f.Boards[0]
	for _, c := range s.Field.Fall(target(s.Piece, a)).Cells() {
		b.Set(c[0], Height-1-c[1], cell(env.CellGhost, s.Piece.Kind))
	}
}
