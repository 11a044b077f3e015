// Package dropblox is Dropblox: one player, a 33x12 board, blocks of 1 to 10 squares, no
// gravity while the player moves; n rows taken out at once score 2^n-1. "Rules §n" in
// comments is section n of the rules this package was written to.
//
// # Coordinates
//
//	row i 0..32 from the top, column j 0..11 from the left; rows 0..8 are hidden from
//	people and otherwise like the rest. A block is where its centre is, turned 0..3 times
//	clockwise; its squares are centre + offset.
//
// # Seats and turns
//
// One seat. In a turn the block is led by commands and then drops; a turn without an
// answer (env.None) drops it where it appeared. Of the blocks, the one in play and the five
// after it are known; the generator behind them is hidden.
//
// # Actions (1,584)
//
//	r*396 + j*33 + i   the centre's resting place, turned r times: [4,12,33] = [r, j, i]
//
// Legal is what the five commands lead to, from where the block appears, tucks under
// overhangs and ways up included. Of turns that cover the same squares only the smallest
// number has ids: an id is a set of squares. Path gives the shortest list of commands that
// leads there. At most 704 are legal: a block with four turns is at least 2 wide and 2 high,
// and the resting places of a turn in a column have a gap below each.
//
// # Observation
//
//	plane 0      taken squares, [33,12]
//	plane 1      the block where it appears
//	plane 2..6   the five blocks after it where they will appear
//
//	global 0      score
//	global 1      turns played
//	global 2..7   squares of the block and of the five after it
//	global 8      mean size of a block drawn at this score
//
// # Draws, reward and end
//
// A draw is a block's type, 0..12677: seven at the start (the second is thrown away), then
// one a turn, by the contest's generator: a seed below 2^64 here is the same seed there.
// Score is points. Result is 0: there is nobody to beat. The game is over when the next
// block finds no room, or when its host says that time is up. Rules version 1.
package dropblox
