// Package programs runs the programs that play Dropblox. A program is started for every turn,
// with the state as JSON and the remaining seconds as arguments, and writes one command per
// line. Section 8 of the rules says when a turn ends and which output counts.
//
// A program cannot block its host or make it use unlimited memory: the time, the number of
// commands and the size of the output are limited, and the program's process group is killed
// at the end of the turn.
package programs
