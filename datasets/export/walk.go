// Package export writes recorded games in formats that training code can read without replaying them:
// Parquet shards and Minari datasets.
//
// A Walker replays records and sends rows to a Sink. A row is one decision of one seat: its observation,
// legal actions and action, and the change of result and points until its next decision or the end.
package export

import "blockyard/env"

// A Row is one decision of one seat. Its slices are reused for the next row.
type Row struct {
	Game    int64     // number of the game in the export, from 0
	Step    int       // steps played before in the game
	Seat    int       // the seat that acts
	Planes  []uint8   // its observation, [C, H, W]
	Globals []float32 // its observation, [Globals]
	Mask    []uint8   // its legal actions: bit a&7 of byte a>>3
	Action  env.Action
	Score   int // its points before the action

	// Until its next decision, or the end of the game:
	Reward     float32 // change of its result
	Points     int     // change of its points
	Terminated bool    // it had no other decision because the game ended
	Truncated  bool    // it had no other decision because the game was stopped

	Value    float32 // the search's evaluation of the action
	HasValue bool
}

// A Game is what the rows of one game have in common.
type Game struct {
	Number int64 // in the export, from 0
	Seed   uint64
	Agents []string // by seat
}

// A Sink receives rows, game by game. The rows of a seat come in order of play. Rows of different seats
// come when the outcome of their decision is known.
type Sink interface {
	// Begin starts the game of the rows that follow.
	Begin(g *Game) error
	Row(r *Row) error
	// End ends the game with its last position s, which the Sink must not keep.
	End(s env.State) error
}
