// Package tetrisduel is the Tetris duel (方块大战) of 2022. Two players take turns dropping one
// known sequence of 560 blocks from the two ends of a shared board of 25x10 cells. A player
// scores rows completed in the peace zone at the own end or in the battle zone in the middle.
// RULES.md has the rules and the protocol; "rules §n" in comments is its section n.
//
// # Coordinates
//
//	x   column, 0 (left) to 9 (right)
//	y   row, 0 (where the seat's blocks enter) to 24; blocks fall to row 14 at most
//
// Each seat has its own frame: rows 0..9 are its peace zone, 10..14 the battle zone and 15..24
// the opponent's peace zone. Seat 1's frame is seat 0's frame turned by 180 degrees: (y, x)
// becomes (24-y, 9-x). State.Cells is in seat 0's frame.
//
// # Seats and turns
//
// Two seats take turns, seat 0 first. Half-turn t = 1..560 plays block t. The sequence is 80
// bags of the seven blocks, each in random order. It is public; nothing is hidden.
//
// # Actions (600)
//
//	d*150 + x*15 + y   the block's centre comes to rest in row y (0..14) and column x, turned
//	                   to direction d, in the mover's frame: row-major [4,10,15] = [d, x, y]
//
// Of placements that cover the same cells only the one with the smallest direction is legal. At most 300 are legal
// (each direction and column has a gap below each resting place; random boards have at most about 80). A seat without
// a legal placement has lost by overflow before it is asked. None loses by illegal, as a wrong answer does.
//
// # Observation
//
//	plane 0         the board in the seat's frame, [25,10]: 0 empty, 1 filled
//	globals 0..6    block of this half-turn, one-hot in the order I J L O S T Z
//	globals 7..62   the eight blocks after it, one-hot; zeros after the last block
//	global 63       1 for the seat to move
//	globals 64, 65  own and the opponent's points
//	globals 66, 67  combo, and 1 if battle rows were cleared in this round
//	global 68       half-turns left, including this one
//	global 69       1 for seat 0
//
// # Draws
//
// Reset draws 80 numbers, one per bag: the index (0..5039) of its order among all orders of
// I J L O S T Z, in lexicographic order. A step draws nothing.
//
// # Score, result and end
//
// Score is points. Result is 1, -1, or 0 for a draw. The game ends by limit (after 560
// half-turns: more points win, equal points are a draw), overflow or illegal. Rules version 1.
package tetrisduel
