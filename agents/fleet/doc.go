// Package fleet is what the processes of a run know of one another: the runs of a broker, the workers of each and what
// these have done. A run is a training by self-play, see package train/cluster, or a match, see package matches.
//
// What a process that was killed leaves in the broker goes after KeepFor: when a run or a match starts, it removes the
// specs, objects and queues of all that gave no sign of life for so long. The weights of a match vanish without that.
package fleet
