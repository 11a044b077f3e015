// Package single trains a value net for a game of one seat, by TD(λ) on the points that its
// choices make: V of an afterstate is the points made from there on, each worth a unit, and
// multiplied by a discount γ for every choice they are later.
//
// The net plays greedily: the choice with the highest reward plus discounted V. The value of
// an afterstate follows from the choice after it,
//
//	G = r + γ·((1-λ)·V(next) + λ·G(next)),   0 beyond the end of a game
//
// Every afterstate that was chosen is learned from once, or as often as its rollout is kept;
// then by the current net's values of the next ones. Pieces are random enough to
// explore by. Some games start from a damaged position, and a game that goes on for long is
// left for a new one.
//
// If the game has a planner, V is learned of the positions in which its plans end. A search
// evaluates those positions, which differ from the ones that games pass through. Of two plans
// made one after the other, r is the points that the second promises beyond the first.
// A search finds the positions that a net overestimates, so the net has to learn from
// plans made with itself. At first it may learn from plans of the baseline evaluator.
//
//	config.go   settings
//	learner.go  Learner: nets, rollouts, one fit per rollout
//	policy.go   one decision: greedy, or by a plan
//	steps.go    what is noted of a rollout, λ-returns, and their tensors in a state file
//	gate.go     points per game
package single
