// Package single trains a net for a game of one seat by what its choices earn: V of an
// afterstate is the points made from there on, each worth a unit, and by a discount less
// for every choice it is later.
//
// Many games are played side by side, greedily: the choice of the most reward plus
// discounted V. What an afterstate is worth follows from the choice after it,
//
//	G = r + γ·((1-λ)·V(next) + λ·G(next)),   0 beyond the end of a game
//
// and every afterstate that was chosen is learnt from once, or as often as its stretch is
// kept, then towards what the net makes of the next ones by now. Pieces are random enough
// to explore by; some games begin with a damaged position, and no game goes on for ever.
//
// Where a game has a planner, V is learnt of the positions that its plans lead to: those are
// what a search asks a net about, and they are not those that games come through. Of two
// plans made one after the other r is the points the second one promises beyond the first.
// A search finds the positions that a net thinks too well of, so it is on its own finds that
// the net must learn; to begin with, it learns what a hand-tuned search finds.
package single
