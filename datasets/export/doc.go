// Package export writes recorded games in forms that learners read without playing them
// again: shards of Parquet, and datasets as Minari reads them.
//
// A row is one choice of one seat: what the seat saw, what it might have chosen, what it
// chose, and what became of that until it chose again or the game ended.
package export

import "blockyard/env"

// A Row is one choice of one seat. Its slices are used again: whoever keeps them copies.
type Row struct {
	Game    int64     // of the export, from 0
	Step    int       // joint moves played before in its game
	Seat    int       // who chose
	Planes  []uint8   // what it saw, [C, H, W]
	Globals []float32 // likewise, [Globals]
	Mask    []uint8   // its legal actions: bit a&7 of byte a>>3
	Action  env.Action
	Score   int // its points when it chose

	// Until its next choice, or the end of the game:
	Reward     float32 // change of its standing
	Points     int     // change of its points
	Terminated bool    // it never chose again, for the game was over
	Truncated  bool    // it never chose again, for the game was broken off

	Value    float32 // what its search thought of the choice
	HasValue bool
}

// A Game is what rows of one game have in common.
type Game struct {
	Number int64 // of the export, from 0
	Seed   uint64
	Agents []string // who played, by seat
}

// A Sink takes rows, game after game. Within a game every seat's rows come in order of
// play; those of different seats come as soon as what became of them is known.
type Sink interface {
	// Begin says whose rows follow.
	Begin(g *Game) error
	Row(r *Row) error
	// End says that the game is done, s being its last position; s is not to be kept.
	End(s env.State) error
}
