// Package wintetris is the Tetris clone that asked a plug-in for its moves: one player, a
// clock tick at a time, with the five action bits of a demo solver. "Rules §n" in comments
// is section n of the rules this package was written to.
//
// # Variants
//
//	wintetris          a choice is a resting place (rotation, box column), carried out by
//	                   the clock: three ticks of gravity, then the placer's turns and steps
//	                   (rules §8.4, §8.5). In a high stack a blocked one makes it miss.
//	wintetris:instant  the same choice, put there at once
//	wintetris:tick     a choice is the bits of one tick
//
// # Coordinates
//
//	x 0..9 from the left, y 0..19 from the floor up; observations and frames have the top
//	row first, as in every game here. A piece is a kind, a rotation and the lower left
//	corner of its box, which may lie outside: x -2..8, y -2..18.
//
// # Actions (44; tick: 32)
//
//	r*11 + x+2    rotation r, box column x: [4,11] = [r, x+2] row-major; its text "r1 x-2"
//	bits          tick: 1 left, 2 right, 4 clockwise, 8 counter-clockwise, 16 drop;
//	              its text "left+cw", or "wait" for 0
//
// Legal are the resting places of the demo solver's move list (rules §8.1), as many as 36,
// less those with a cell above the field; one always is. wintetris:instant lists places that
// cover the same cells once, under the smallest rotation, as many as 34. Every one of the 32
// bit sets is legal. None is bits 0 until the piece locks; in wintetris:instant it drops the
// piece where it appears.
//
// # Observation
//
//	plane 0        the field without the piece, [20,10]: 0 empty, 1 filled
//	plane 1        tick: the piece in play, where it is within the field
//
//	global 0..6    the piece, one-hot in the order I J L O S T Z
//	global 7..13   the next piece, likewise
//	global 14      level
//	global 15..18  tick: rotation, one-hot
//	global 19, 20  tick: x and y of the box's corner
//	global 21      tick: 1 in a piece's first tick
//
// # Draws
//
// A draw is a kind, 0..6: two in Reset, one for every piece that locks. The generator is the
// rules' own (rules §3), so a seed gives the rules' sequence; what follows next is hidden.
//
// # Reward and end
//
// Score is lines, the figure that WinTetris players are compared by; the points of rules §6
// are State.Points. Result is 0, and -1 once the game is over: a piece appears on filled cells, or
// locks above the field. Nobody wins. Rules version 1.
package wintetris
