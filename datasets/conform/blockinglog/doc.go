// Package blockinglog compares reference cases of Blocking with the rules of package
// blocking. A file has JSON lines of three kinds, which differ in their keys:
//
//	game, turn, skip, end   whole games, line after line: "type"
//	opening                 a first move and all codes that mean the same: "equivalent"
//	shape table             each letter with its definition and 8 orientations: "A", "B", …
//
// A replay takes the number of players, the letters and the answers from the transcript. It compares
// every other value: the lines that the player was sent and their order, whether the answer was legal,
// the cells it covered, scores, the players who were passed over, the end of the game, ranks and the
// last board.
package blockinglog
