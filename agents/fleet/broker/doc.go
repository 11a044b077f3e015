// Package broker is a NATS server with JetStream, embedded or external, and the connection to it: its flags, its keys
// and its certificates. The server of a run and its workers exchange jobs and results there.
//
// # What lies in the broker
//
//	blockyard-runs         bucket: per run its spec, and what else the run needs
//	blockyard-RUN-nets     object store: nets, weights and large results, by SHA-256
//	blockyard.RUN.hello    signs of life of workers
//	blockyard.RUN.trouble  tasks that workers could not play
//	blockyard.RUN.status   questions for the run's Status
package broker
