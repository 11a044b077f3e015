package blockbattle

import "blockyard/env"

// Threat returns the largest number of garbage rows that seat can send this round by one of the given legal actions
// (rules §5.4). An action with which the seat itself loses at once does not count.
func (s *State) Threat(seat int, legal []env.Action) int {
	most := 0
	for _, a := range legal {
		side, land := s.Sides[seat], s.Landing(seat, a)
		if side.lock(&land) {
			continue
		}
		rows := side.clear()
		empty := (rows > 0 || s.Rules&PCNeedsClear == 0) && side.Cells.Any() == 0
		before := int(side.Points) / PerGarbage
		side.Award(rows, empty, &land, s.Rules)
		if sent := int(side.Points)/PerGarbage - before; sent > most {
			most = sent
		}
	}
	return most
}

// Survives reports whether seat is still in the game after its afterstate s if garbage rows rise on its board: no
// block is pushed over the top (rules §5.3), and the next piece has room where it appears, as far as that depends on
// the blocks that are there.
func (s *State) Survives(seat, rows int) bool {
	side := s.Sides[seat]
	_, fits := side.raise(rows)
	return fits && !side.SpawnHits(int(s.Piece))
}
