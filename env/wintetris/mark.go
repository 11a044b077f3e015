package wintetris

import "blockyard/env"

var _ env.Marker = (*State)(nil)

// Mark implements env.Marker: where the piece is to rest. A choice of bits has no such place.
func (s *State) Mark(f *env.Frame, _ int, a env.Action) {
	if s.Mode == Ticks {
		return
	}
	b := &f.Boards[0]
	for _, c := range s.Field.Fall(target(s.Piece, a)).Cells() {
		b.Set(c[0], Height-1-c[1], Letters[s.Piece.Kind]+'a'-'A', s.Piece.Kind+1)
	}
}
