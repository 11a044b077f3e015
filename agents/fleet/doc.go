// Package fleet lets worker processes, on one machine or many, do the jobs of a run. It knows no game: a run has a
// kind, such as a match (package matches) or rollouts of self-play (package train/cluster), which defines what a job
// contains and what its result means. Processes exchange jobs and results through a NATS server; see package broker.
//
// # Life of a run
//
//  1. Announce. The run's process has a Server. It writes the Run to the broker: its kind, spec, facts and limits. The
//     entry is also a lease: the Server renews it, and whoever continues the run takes it with the next epoch.
//  2. Self-test. A worker compares the run's facts with its own and plays a self-test. If a byte differs, the worker
//     is refused, says why, and leaves.
//  3. Lease of a job. A job lies in a work queue. A worker takes one when it is idle and says that it is alive while
//     it plays; after Limits.AckWait without that, the job goes to another worker.
//  4. Result. A job is acknowledged after its result is stored. The Server checks each result and counts one per job.
//     Results that are late or repeated are dropped. A worker whose result no worker can have played is excluded, and
//     the job is queued again.
//  5. Give up. A job that was given out Limits.Deliveries times without a result is split, if its kind can do that.
//     Otherwise it is written to a file and ends the run.
//  6. Sweep. A run that is over removes what it has in the broker. What a killed one left there, the next Serve
//     removes after KeepFor; only the number of its last epoch stays, if the run can be continued.
//
// Results do not depend on workers: a job says all that its result depends on, and the kind orders the results. No
// process reads a clock of another one: times are measured where they are used, or by the broker.
//
// # What lies in the broker
//
//	blockyard-runs               bucket: the Run of every run
//	blockyard-RUN-nets           object store: nets, weights and large results, by SHA-256
//	blockyard-RUN-EPOCH-tasks    work queue: jobs without a result
//	blockyard-RUN-EPOCH-results  work queue: results that the Server has not taken, or why there are none
//	blockyard.RUN.hello          signs of life of workers
//	blockyard.RUN.status         questions for the Status of the run
package fleet
