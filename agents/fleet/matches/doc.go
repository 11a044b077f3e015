// Package matches plays the games of a match by worker processes; see package fleet. The result is that of the same
// match in one process, byte for byte: agents, seeds and order are the same.
//
// A job is a unit of the match, its result the records of the unit's games, which are replayed before they count. A
// worker is refused if its rules, features or shipped weights are others, or if its moves in a test game differ.
// Agents that depend on a clock or on a program of one machine are refused when the match starts. A match that is cut
// short is played again: it cannot be continued.
package matches
