// Package dropbloxlog compares transcripts of the original engine of Dropblox with the rules
// of package dropblox. A file has JSON lines of these kinds, which differ in their keys:
//
//	game, turn, end   whole games, line after line: "kind"
//	case              one turn from a given position
//	rng               the first uniform numbers of a seed
//	blocks            the types drawn from a seed at given scores: a "trajectory"
//	block             a block of the table: "type", "center" and "offsets" and no "kind"
//	history           a game as files: the output of the program and the text of every file
//
// A replay takes seeds, commands and the program's output from the transcript, and in a case also
// the board and two blocks. It compares every other value, and the files of a history byte by byte.
//
// Boards are lists of rows without the empty rows at the top. Points are [row, column].
package dropbloxlog
