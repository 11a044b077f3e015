// Package tetrisduel is the Tetris duel (方块大战) of 2022: two players drop one known
// sequence of 560 blocks from the two ends of one 25x10 board, in turn; rows completed in
// one's own peace zone or in the battle zone in the middle score. "Rules §n" in comments
// is section n of the rules this package was written to.
//
// # Coordinates
//
//	x 0..9, y 0..24; every seat sees the board in its own frame: its blocks enter above
//	row 0 and fall towards row 14; rows 0..9 are its peace zone, 10..14 the battle zone,
//	15..24 the other's peace zone. Seat 1's frame is seat 0's turned by half: (y, x) is
//	(24-y, 9-x). State.Cells is in seat 0's frame.
//
// # Seats and turns
//
// Two seats, in turn, seat 0 first; half-turn t = 1..560 plays block t. The sequence is 80
// packages of the seven blocks in random order, and public. Nothing is hidden.
//
// # Actions (600)
//
//	d*150 + x*15 + y   the block's centre at rest in row y (0..14), column x, direction d,
//	                   in the mover's frame: [4,10,15] = [d, x, y] row-major
//
// Of placements that cover the same cells the one of the smallest direction is legal. A
// seat without a legal placement has lost by overflow before it is asked. None loses by
// illegal, as a wrong answer does. At most 300 are legal (resting places of one
// direction and column have a gap below each; random boards show at most about 80).
//
// # Observation
//
//	plane 0  the board in the seat's frame, [25,10]: 0 empty, 1 filled
//
//	global 0..6     the block of this half-turn, one-hot in the order I J L O S T Z
//	global 7..62    the eight blocks after it, likewise; zeros after the last
//	global 63       1 for the seat that is to move
//	global 64, 65   own and the opponent's points
//	global 66, 67   combo, and whether battle rows were cleared in this round
//	global 68       half-turns left, this one included
//	global 69       1 for seat 0
//
// # Reward and end
//
// Score is points. Result is 1, -1, or 0 for a draw. The game ends by limit (560 half-turns:
// more points win, equal points draw), overflow or illegal. Rules version 1.
package tetrisduel
