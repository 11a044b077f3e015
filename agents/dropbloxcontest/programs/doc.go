// Package programs runs a Dropblox player: a program started anew for every turn, with the
// state as JSON and the seconds left as its two arguments, which writes one command a line.
//
// What a turn is, when it ends and what counts of its output follows section 8 of the
// rules. Nothing a program does can hang its host or make it grow: commands, shown lines
// and output as a whole are bounded, and the program's process group is ended with the turn.
package programs
