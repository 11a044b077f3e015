// Package tetrisduellog compares transcripts of the original engine of the Tetris duel
// with the rules of package tetrisduel. A file is JSON lines of three sorts, distinguished by
// their keys:
//
//	game, turn, end   whole games, line after line: "type"
//	list              a board and a block with all their placements: "all" and "valid"
//	clear             a board before and after full rows are taken out: "before" and "after"
//
// Inputs of a replay are the blocks and the placements; every other value is compared:
// what the mover was shown, the list in its order, gains, boards, combo, how a game ended
// and why, and the statistics that follow from the placements. Of a wrong answer it is
// compared that it is wrong by the rules, of a late one that it would have been right.
//
// Boards are 75 hex digits, three a row; placements in lists are a hex digit for the row,
// then column and direction.
package tetrisduellog
