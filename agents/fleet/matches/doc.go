// Package matches plays the games of a match by worker processes, on one machine or many. The result is that of the
// same match in one process, byte for byte: agents, seeds and order are the same, and a unit counts once.
//
// A Host has the tasks, one per unit of the match, lowest first. Workers ask it for one when they are idle, and send
// the records of its games. The host replays these before they count. Nothing of a match is stored in the broker but
// its spec, weights, and records that are too large for a message: a match that is cut short is played again. These the
// Host writes again and again, because they vanish a week after they were written last; see fleet.KeepFor.
//
// A task that no sign of life of its worker names for Limits.AckWait goes to another worker. One that was given out
// Limits.Deliveries times without a result is written to a file and ends the match.
//
// A worker is refused if its rules, features or shipped weights are others, or if its moves in a test game differ.
// Agents that depend on a clock or on a program of one machine are refused when the match starts.
package matches
