// Package blockinglog compares reference cases of Blocking with the rules of package
// blocking. A file is JSON lines of three sorts, distinguished by their keys:
//
//	game, turn, skip, end   whole games, line after line: "type"
//	opening                 a first move and every code for it: "equivalent"
//	shape table             a letter each with its definition and 8 orientations: "A", "B", …
//
// Inputs of a replay are the players, the letters and the answers; every other value is
// compared: what the player was sent, in its order, whether the answer was legal, the cells
// it covered, scores, who was passed over, how the game ended, ranks and the last board.
package blockinglog
