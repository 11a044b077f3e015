// Package solo trains a net for a game of one seat by what its choices earn: V of an
// afterstate is the points made from there on, each worth a unit, and by a discount less
// for every choice it is later.
//
// Many games are played side by side, greedily: the choice of the most reward plus
// discounted V. What an afterstate is worth follows from the choice after it,
//
//	G = r + γ·((1-λ)·V(next) + λ·G(next)),   0 beyond the end of a game
//
// and every afterstate that was chosen is learnt from once. Pieces are random enough to
// explore by; some games begin with a damaged position, and no game goes on for ever.
package solo
