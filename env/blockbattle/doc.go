// Package blockbattle is AI Block Battle: two players, each on a 10x20 board, get the same
// falling pieces; clearing rows earns points, three points push a garbage row into the
// other board, and every 15 rounds an unclearable row rises under both until somebody
// tops out. "Rules §n" in comments is section n of the rules this package was written to.
//
// # Coordinates
//
//	x 0..9 left to right, y 0..19 top to bottom; (0,0) top left, (9,19) bottom right
//	y < 0 is above the board: never blocked, but a piece that locks there loses
//
// # Seats and rounds
//
// Two seats act at once in every round, with the same piece; neither sees the other's
// choice. Order of a round: both place, both clear, seat 0 scores and sends, seat 1
// scores and sends, solid rows, next piece, spawn test.
//
// # Actions (1601)
//
//	spin*800 + rot*200 + x*20 + y   place: x leftmost column, y lowest row of the cells,
//	                                rot 0..3 quarter turns right, spin 1 for a T-spin
//	1600                            skip: throw the piece away, when one is in stock
//
// Ids below 1600 are [2,4,10,20] = [spin, rot, x, y] row-major, for policy networks. I, S
// and Z use rot 0 and 1, O rot 0: the others take the same cells. Legal lists hold every
// place an answer of at most 41 tokens can lead to, at most 512 (a column of one
// orientation has at most 10 places to rest; random play shows at most about 70). None is
// an answer without tokens: the piece falls where it spawned.
//
// # Observation
//
//	plane 0  own board, [20,10]: 0 empty, 1 block, 2 solid
//	plane 1  the opponent's, likewise
//
//	global 0..6    this round's piece, one-hot in the order I J L O S T Z
//	global 7..13   the next one
//	global 14..20  own points, points mod 3, combo, skips in stock, solid rows (0..20),
//	               pending garbage rows (0..20, only in afterstates), height of the stack
//	global 21..27  the opponent's
//	global 28      rounds until the next solid row, 0 (this round) to 14
//
// Globals are unscaled counts. Hidden from both seats: pieces after the next, and holes of
// garbage to come.
//
// # Reward and end
//
// Score is row_points, the running total. Result is 1 for the winner, -1 for the loser,
// 0 for a draw. A side loses by phase spawn, overflow, garbage or solid (rules §10);
// solid rows end every game.
//
// # Rules
//
// Game plays the published rules, ClassicGame and PortGame what the two engines played;
// rules.go has the switches. Rules version 1.
package blockbattle
