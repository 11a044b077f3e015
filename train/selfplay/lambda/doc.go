// Package lambda trains a value net by TD(λ) on afterstates.
//
// In each step every seat that learns plays the afterstate that the net values most. The
// features of that afterstate become a row. Its target is the λ-return: (1-λ) times the
// net's value of the seat's next afterstate plus λ times the next row's target, ending in
// the game's result. The rows of a rollout are shuffled, fitted once and dropped.
//
// In the warm start the baseline evaluator plays all seats. Its opinion of a position,
// scaled to log odds of winning, is part of the targets, and some choices that it did not
// make are learned as well, by its opinion alone.
//
//	config.go   settings
//	learner.go  Learner: nets, rollouts, one fit per rollout
//	policy.go   one decision
//	notes.go    what is noted of it
//	collect.go  rows with targets
//	scale.go    the baseline evaluator's opinion as log odds
//	returns.go  λ-returns
package lambda
