// Package tetrisduellog compares transcripts of the original engine of the Tetris duel
// with the rules of package tetrisduel. A file has JSON lines of three kinds, which differ in their
// keys:
//
//	game, turn, end   whole games, line after line: "type"
//	list              a board and a block with all their placements: "all" and "valid"
//	clear             a board before and after full rows are removed: "before" and "after"
//
// A replay takes the blocks and the placements from the transcript. It compares every other value:
// what the mover was shown, the list of placements in its order, gains, boards, combo, the end of the
// game and its reason, and the statistics. A wrong answer must be wrong by the rules, and a late answer
// must be a legal one.
//
// Boards are 75 hex digits, three per row. A placement in a list is a hex digit for the row, then
// the column and the direction.
package tetrisduellog
