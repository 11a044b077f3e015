// Package selfplay trains nets by self-play: one that judges by TD(λ) on afterstates, and one
// that chooses by policy gradient, with the first as its critic.
//
// Many games are played side by side. In each round every seat that learns plays the
// afterstate the current net likes best; the features of that afterstate become a row,
// and its target is the λ-return: (1-λ) times the net's own value of the seat's next
// afterstate plus λ times the next row's target, ending in the game's result. After a
// stretch of rounds the rows are shuffled, fitted once and thrown away. Where an actor
// plays, it draws its choices and learns from pairs of them; see actor.
//
//	config.go   what a run is made of
//	choose.go   one decision: one ply, or two with a narrow first
//	pick.go     one decision drawn by an actor
//	slot.go     one game in progress, with its own chance
//	path.go     what a seat saw of it
//	returns.go  λ-returns over a stretch
//	collect.go  rows with targets
//	actor.go    the net that chooses: pairs, advantages, targets
//	backup.go   values by search: the net learns what looking further with it finds
//	lookahead.go  that look
//	fit.go      one pass over a stretch; means of nets, learning rates
//	run.go      a run: play, fit, go on
//	budget.go   until the budget is spent
//	state.go    a run as a file, exactly
//	nets.go     its nets in that file
//	gate.go     paired games of nets against each other and against the hand-tuned one
//	curve.go    how a run went: as a picture
//
// Nothing depends on clocks or on the number of workers: games have their own chance, a
// net stands still while games are played, and rows are put together in the order of
// games. Only a budget given as time makes runs differ.
package selfplay
