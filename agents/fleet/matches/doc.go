// Package matches lets worker processes play the games of a match; see package fleet. The result is bit-identical to
// that of the same match in one process.
//
// A job is one unit of the match, such as a pair of games. Its result are the records of these games, which are
// replayed before they count. A worker is refused if its rules, features or shipped weights differ, or its moves in a
// test game. Agents that depend on a clock or on a program of one machine are refused when the match starts. An
// interrupted match cannot be continued.
package matches
