// Package broker is where processes meet that play games for one another: a NATS server with JetStream, embedded or
// external, with the runs that it knows and the workers of each. A run is a training by self-play, see package
// train/cluster, or a match, see package agents/fleet.
//
// It lies below agents because agents and train import it, and agents is the lower of these layers.
//
// # What lies in the broker
//
//	blockyard-runs         bucket: per run its spec, and what else the run needs
//	blockyard-RUN-nets     object store: nets, weights and large results, by SHA-256
//	blockyard.RUN.hello    signs of life of workers
//	blockyard.RUN.trouble  tasks that workers could not play
//	blockyard.RUN.status   questions for the run's Status
//
// What a process that was killed leaves there goes after KeepFor: when a run or a match starts, it removes the specs,
// objects and queues of all that gave no sign of life for so long. The weights of a match vanish without that.
package broker
