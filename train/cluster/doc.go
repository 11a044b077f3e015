// Package cluster plays the self-play of one run in many processes: rollouts are the jobs of a fleet; see package
// agents/fleet for what happens to a job and for what happens if something fails.
//
// A job is a rollout of several slots; see selfplay.Task. The learner takes the results in the order of slots, so that
// its weights are the same, byte for byte, for any number of workers, whatever was lost, late or repeated on the way.
// This needs a budget of iterations, and workers that compute as the learner does: each plays a self-test for every
// kind of rollout and is refused if its bytes differ.
//
// A job that fails too often is split into its slots; a slot that fails as often by itself ends the run.
package cluster
