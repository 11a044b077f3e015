// Package blocking is CodinGame's Blocking, a game of the Blokus family. Two to four players lay polyominoes on one
// board of 13x13 cells. Each new piece must touch the player's own pieces at a corner and never along a side. Every
// square counts one point. RULES.md has the rules and the protocol; "rules §n" in comments is its section n.
//
// # Coordinates
//
//	x   column, 0 (left) to 12 (right)
//	y   row, 0 (top) to 12 (bottom)
//
// Seats 0 to 3 start in the corners (0,0), (12,12), (0,12) and (12,0).
//
// # Seats and turns
//
// Seats act in turn. A seat that cannot place a piece is skipped for the rest of the game.
// Reset draws the shapes of the game: 18, 13 or 10 of the 21 letters for 2, 3 or 4 seats, the
// same for all. After that nothing is random or hidden.
//
// # Actions (11582 with the default shape table)
//
//	base[o] + y*(14-w) + x   lay oriented piece o, with the top left corner of its w x h box at
//	                         (x, y)
//
// Oriented pieces are numbered by letter, then by the first (flip, rotation) that shows the form. Table.Oriented
// lists them with their base, so that a policy network can read an id as [91, 13, 13] = [o, y, x]. At most 2048
// actions are legal at once (at most 633 were seen). None is a fault that eliminates the seat.
//
// # Observation
//
//	planes 0..3     cells of the seat itself, then of the next seats in turn, [13,13]: 0 or 1
//	plane 4         cells where the seat's next piece may touch its own pieces at a corner
//	globals 0..83   letters A..U that each seat has left, own first, then in turn: 0 or 1
//	globals 84..87  points of each seat, in the same order
//	globals 88..91  1 for a seat that may still get a turn, in the same order
//	globals 92..95  number of the seat itself, one-hot
//	globals 96..98  2, 3 or 4 seats, one-hot
//	global 99       1 if the seat is to move
//
// # Draws
//
// Reset draws 14, 9 or 6 numbers for 2, 3 or 4 seats: which of the letters that are left joins A
// to D. Deal returns the draws for given letters. A step draws nothing.
//
// # Score, result and end
//
// Score is the number of squares laid, or -1 once eliminated. Result is the mean over the other seats of 1, 0 or -1 for
// more, equal or fewer points at the end. The game ends when no seat can place a piece (blocked), when the only seat
// that still can is ahead of all others (decided), or when at most one seat is left (elimination). Rules version 1.
package blocking
