// Package dropblox is Dropblox. One player moves blocks of 1 to 10 squares on a board of 33 rows
// and 12 columns. There is no gravity while the player moves. Removing n rows at once scores 2^n-1
// points. RULES.md has the rules and the protocol; "rules §n" in comments is its section n.
//
// # Coordinates
//
//	i   row, 0 (top) to 32 (bottom); viewers do not show rows 0..8, which are otherwise like
//	    the rest
//	j   column, 0 (left) to 11 (right)
//
// A block's place is the cell of its centre and its quarter turns clockwise, 0..3. Its squares are at centre + offset.
//
// # Seats and turns
//
// There is one seat. In a turn, commands move the block, and then it drops. A turn without an
// answer (env.None) drops the block where it appeared. The player knows the block in play and
// the five blocks after it; the generator of later blocks is hidden.
//
// # Actions (1,584)
//
//	r*396 + j*33 + i   the centre comes to rest in row i and column j, turned r times:
//	                   row-major [4,12,33] = [r, j, i]
//
// The legal actions are all resting places that the five commands can reach from where the block
// appears, including places under overhangs and ways that lead up. If several turns cover the same
// squares, only the smallest is legal, so no two actions lead to the same board. State.Path returns the
// shortest list of commands for an action. At most 704 actions are legal: a block with four turns is at
// least 2 wide and 2 high, and each column of one turn has a gap below each resting place.
//
// # Observation
//
//	plane 0       taken squares, [33,12]
//	plane 1       the block where it appears
//	planes 2..6   the five blocks after it, where they will appear
//	global 0      score
//	global 1      turns played
//	globals 2..7  number of squares of the block and of the five after it
//	global 8      mean size of the blocks drawn at this score
//
// # Draws
//
// A draw is a type of block, 0..12677: seven in Reset (the second is discarded), then one per
// turn, by the contest's generator. A seed below 2^64 is the same seed as in the contest.
//
// # Score, result and end
//
// Score is points. Result is always 0: there is no opponent. The game is over when the next
// block has no room, or when its time is up (Expire). Rules version 1.
package dropblox
