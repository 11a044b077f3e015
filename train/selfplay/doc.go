// Package selfplay trains nets by self-play. It has what every algorithm shares: a Run plays
// rollouts and fits nets until its budget is spent, evaluates the net at gates, and keeps the
// files of its folder. The algorithms are in the packages below:
//
//	lambda      TD(λ) on afterstates, with a warm start by imitation
//	actor       policy gradient, with lambda as the critic
//	backup      fitted value iteration: the net learns what a search with it finds
//	phases      the three of them one after the other: games of several seats
//	single      TD(λ) on points: games of one seat
//	afterstate  evaluates the choices of one decision
//
// A rollout is a fixed number of steps of many games played side by side. A Policy per worker
// chooses and notes what is to be learned; then the Learner fits its nets once.
//
// Without a budget of time, nothing depends on clocks or on the number of workers: games have
// their own generators, a net stands still while games are played, and rows are put together
// in the order of games.
//
//	run.go       Run, and the interfaces Learner and Algorithm
//	options.go   the settings that every algorithm has
//	budget.go    progress, and when gates are due
//	slot.go      games in progress
//	value.go     a net in training
//	state.go     a run as a file, exactly
//	statenets.go its nets
//	point.go     what gates found, in words and as numbers
//	curve.go     as a picture
//	folder.go    weights, events, state and curve on disk
package selfplay
