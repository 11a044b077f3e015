// Package cluster plays the self-play of one run in many processes, on one machine or many, over NATS
// JetStream. The broker is a NATS server that the learner embeds, or an external cluster.
//
// The learner publishes tasks: a rollout of several slots each; see selfplay.Task. Workers play tasks and publish
// results. The learner takes the results in the order of slots, so that its weights are the same, byte for
// byte, for any number of workers, whatever was lost, late or repeated on the way. This needs a budget of
// iterations, and workers that compute as the learner does: each plays a self-test first and is refused if its
// bytes differ.
//
// # What lies in the broker
//
//	blockyard-runs               bucket: per run its Spec and the lease of its learner
//	blockyard-RUN-nets           object store: nets and large results, by SHA-256
//	blockyard-RUN-EPOCH-tasks    work queue: tasks that have no result yet
//	blockyard-RUN-EPOCH-results  work queue: results that the learner has not taken yet
//
// An epoch is the time of one learner. Who continues a run takes the lease with the next epoch and deletes the
// streams of the one before, so that nothing of an earlier learner or its workers is counted.
//
// # What happens if something fails
//
// A task is acknowledged after its result is stored. If its worker dies, is stopped or is cut off, the task is
// delivered to another one after Limits.AckWait. A result whose task has one already is dropped. A task that was
// delivered Limits.Deliveries times without a result is played slot by slot; a slot that fails as often by itself is
// written to a file and ends the run.
package cluster
