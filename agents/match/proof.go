package match

import (
	"cmp"
	"fmt"

	"blockyard/datasets/record"
	"blockyard/env"
)

// Prove returns an error unless a record replays, through the rules of g, to the points and ranks of a game. Where the
// rules place no seat of two before the other, because they drew or the game was stopped, decided says whether the
// contest may have done so, for example because of the loser's fault.
func Prove(g *env.Game, rec *record.Record, points, ranks []int, decided func(loser, winner int) bool) error {
	if rec.Seats != len(points) || rec.Seats != len(ranks) {
		return fmt.Errorf("a record of %d seats, want %d", rec.Seats, len(points))
	}
	if err := record.Check(g, rec); err != nil {
		return err
	}
	for seat, own := range points {
		if shown := rec.Scores[seat]; shown != own && shown >= 0 { // below 0 is a seat that was eliminated
			return fmt.Errorf("seat %d has %d points, %d by its record", seat+1, own, shown)
		}
		for other := range seat {
			noted := cmp.Compare(ranks[other], ranks[seat])
			played := cmp.Compare(rec.Results[seat], rec.Results[other])
			loser, winner := seat, other
			if noted > 0 {
				loser, winner = other, seat
			}
			if noted != played && (played != 0 || !decided(loser, winner)) {
				return fmt.Errorf("seats %d and %d have the ranks %d and %d, and the results %g and %g by the record",
					other+1, seat+1, ranks[other], ranks[seat], rec.Results[other], rec.Results[seat])
			}
		}
	}
	return nil
}
