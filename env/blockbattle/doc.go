// Package blockbattle is AI Block Battle. Two players, each with a board of 10x20 cells, get the same falling pieces
// at the same time. Clearing rows scores points; every three points push a garbage row into the other player's board;
// every 15 rounds a solid row, which cannot be cleared, rises under both boards until a player tops out. RULES.md has
// the rules and the protocol; "rules §n" in comments is its section n.
//
// # Coordinates
//
//	x   column, 0 (left) to 9 (right)
//	y   row, 0 (top) to 19 (bottom); y < 0 is above the board, where nothing blocks a piece,
//	    but a piece that locks there loses the game
//
// # Seats and rounds
//
// Both seats act at once in every round and do not see each other's choice. In a round
//
//  1. both place their piece, and both clear full rows;
//  2. seat 0 scores, sends garbage and, in every 15th round, gets a solid row;
//  3. seat 1 does the same;
//  4. the next piece appears, and a player whose piece has no room loses.
//
// # Actions (1601)
//
//	spin*800 + rot*200 + x*20 + y   place the piece: x is the leftmost column and y the lowest
//	                                row of its cells, rot 0..3 the quarter turns to the right,
//	                                spin 1 for a T-spin
//	1600                            skip: discard the piece, if a skip is in stock
//
// The ids below 1600 are the row-major index of [2,4,10,20] = [spin, rot, x, y], for policy networks.
// If several orientations cover the same cells, only the first one is legal: I, S and Z have rot 0 and
// 1, and O has rot 0. The legal actions are all places that an answer of at most 41 tokens can reach.
// There are at most 512 (each column of one orientation has at most 10 resting places; random games
// have at most about 70). None is an answer without tokens: the piece falls where it appeared.
//
// # Observation
//
//	plane 0         own board, [20,10]: 0 empty, 1 block, 2 solid
//	plane 1         the opponent's board
//	globals 0..6    piece of this round, one-hot in the order I J L O S T Z
//	globals 7..13   next piece, one-hot
//	globals 14..20  own points, points mod 3, combo, skips in stock, solid rows (0..20), pending
//	                garbage rows (0..20, only in afterstates), height of the stack
//	globals 21..27  the same of the opponent
//	global 28       rounds until the next solid row: 0 (this round) to 14
//
// Globals are unscaled counts. Hidden from both seats are the pieces after the next one and
// the holes of garbage to come.
//
// # Draws
//
//	Reset   the first two pieces, 0..6 in the order I J L O S T Z
//	Step    for each garbage row, from the lowest: the column of its hole, 0..9, and in a row with
//	        two holes a number d, 0..8: the other hole is d+1 columns to the right, continued at
//	        the left edge. First the rows that seat 0 sends, then those of seat 1, then the piece
//	        after the next one
//
// # Score, result and end
//
// Score is row_points, the running total. Result is 1 for the winner, -1 for the loser and 0 for a draw. A player
// loses in one of four phases: spawn, overflow, garbage or solid (rules §7). Solid rows end every game.
//
// # Variants
//
// Game follows the published rules. ClassicGame and PortGame follow what the two engines of
// the contest played; type Rules lists the differences. Rules version 1.
package blockbattle
