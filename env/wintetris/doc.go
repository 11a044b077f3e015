// Package wintetris is WinTetris, a Tetris clone in which a plug-in plays. In every tick of the
// clock the plug-in may move, turn and drop the piece, one bit for each. RULES.md has the
// rules and the plug-in's interface; "rules §n" in comments is its section n.
//
// # Variants
//
//	wintetris          an action is a resting place (rotation, box column). The engine carries
//	                   it out: three ticks of gravity, then one turn and one step per tick
//	                   (rules §13.4, §13.5). In a high stack a blocked turn or step makes the
//	                   piece miss its target.
//	wintetris:instant  an action is a resting place, reached at once
//	wintetris:tick     an action is the bits of one tick
//	wintetris:paper10  the Tetris of the literature on learning, on 10 rows (rules §15): an action is a rotation and a
//	                   column; the piece falls from above the field, and the next one is not known
//	wintetris:paper20  the same on 20 rows
//
// # Coordinates
//
//	x   column, 0 (left) to 9 (right)
//	y   row, 0 (the floor) upwards to 19, in wintetris:paper10 to 9; observations and frames have the top row first
//
// A piece is a kind, a rotation and the lower left corner of its box. The box may reach beyond
// the field: x -2..8, y -2..18.
//
// # Actions (44; 32 in wintetris:tick)
//
//	r*11 + x+2   rotation r and box column x, row-major [4,11] = [r, x+2]; text "r1 x-2"
//	bits         in wintetris:tick: 1 left, 2 right, 4 clockwise, 8 counter-clockwise, 16
//	             drop; text "left+cw", or "wait" for 0
//
// The legal resting places are those of the demo solver's move list (rules §13.1), at most 36, without those that have
// a cell above the field. At least one is legal. In wintetris:instant, places that cover the same cells are listed
// once, under the smallest rotation: at most 34. In wintetris:tick all 32 actions are legal. None lets the piece fall
// by itself until it locks; in wintetris:tick it is action 0, in wintetris:instant it drops the piece where it appears.
//
// In wintetris:paper10 and wintetris:paper20 all that are within the walls are legal, at most 34: also those that end
// the game, and so the legal actions depend on the piece alone. None drops the piece in its first rotation.
//
// # Observation
//
//	plane 0         the field without the piece, [20,10], in wintetris:paper10 [10,10]: 0 empty, 1 filled
//	plane 1         only in wintetris:tick: cells of the piece that are within the field
//	globals 0..6    piece, one-hot in the order I J L O S T Z
//	globals 7..13   next piece, one-hot
//	global 14       level
//	globals 15..18  only in wintetris:tick: rotation, one-hot
//	globals 19, 20  only in wintetris:tick: x and y of the corner of the box
//	global 21       only in wintetris:tick: 1 in the first tick of a piece
//
// In wintetris:paper10 and wintetris:paper20 there are only globals 0 to 6.
//
// # Draws
//
// A draw is the kind of a piece, 0..6: two in Reset and one for every piece that locks. The generator is that of the
// rules (rules §11), so a seed gives the sequence of the rules. Pieces after the next one are hidden. In
// wintetris:paper10 and wintetris:paper20 a piece is drawn when it appears: one in Reset. All later ones are hidden.
//
// # Score, result and end
//
// Score is the number of lines cleared, by which WinTetris players are compared; State.Points
// holds the points of rules §6. Result is 0, and -1 once the game is over, which happens when a
// piece appears on filled cells or locks above the field. There is no winner. Rules version 1.
// wintetris:paper10 and wintetris:paper20 have no points, and only a piece that locks above the field ends the game.
package wintetris
