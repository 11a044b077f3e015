// Package dropbloxlog compares transcripts of the original engine of Dropblox with the rules
// of package dropblox. A file is JSON lines of these sorts, distinguished by
// their keys:
//
//	game, turn, end   whole games, line after line: "kind"
//	case              one turn on a board made up for it
//	rng               the first uniform numbers of a seed
//	blocks            the types drawn from a seed at given scores: a "trajectory"
//	block             a block of the table: "type", "center" and "offsets" and no "kind"
//	history           a game as its files: what the program wrote, and every file's text
//
// Inputs of a replay are seeds, commands and what a program wrote; in a case the board and
// the two blocks too. Every other value is compared, the files of a history byte by byte.
//
// Boards are lists of rows without the empty rows on top; points are [row, column].
package dropbloxlog
