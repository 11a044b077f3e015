// Package blocking is CodinGame's Blocking, a game of the Blokus family: 2, 3 or 4 players
// lay polyominoes on one 13x13 board, each new one touching their own by a corner and
// never by a side; every square counts a point. "Rules §n" in comments is section n of the
// rules this package was written to.
//
// # Coordinates
//
//	x 0..12 left to right, y 0..12 top to bottom; seats start in the corners
//	(0,0), (12,12), (0,12), (12,0)
//
// # Seats and turns
//
// Seats act in turn. One that cannot place is passed over for the rest of the game. Nothing
// is hidden once the shapes of the game are drawn: 18, 13 or 10 of 21 letters for 2, 3 or
// 4 seats, the same for everybody.
//
// # Actions (11582 with the default table)
//
//	base[o] + y*(14-w) + x   oriented piece o with the top left corner of its w x h box at
//	                         (x, y); oriented pieces run by letter, then by the first
//	                         (flip, rotation) that shows the form
//
// Table.Oriented lists the oriented pieces with their base, so that a policy network may
// read an id as [91, 13, 13] = [o, y, x]. At most 2048 are legal at once (633 were seen).
// None is a fault: the seat is eliminated.
//
// # Observation
//
//	plane 0..3  cells of the seat itself, then of the seats after it in turn, [13,13]: 0, 1
//	plane 4     where the seat's next piece may touch its own: the well-connected cells
//
//	global 0..83    letters A..U each seat can still lay, own first, then in turn: 0, 1
//	global 84..87   points, likewise
//	global 88..91   1 for a seat that may still be asked
//	global 92..95   one-hot: the seat itself, 0..3
//	global 96..98   one-hot: 2, 3 or 4 seats
//	global 99       1 if the seat is to move
//
// # Reward and end
//
// Score is squares laid, -1 once eliminated. Result is the mean over the other seats of 1,
// 0 or -1 for more, equal or fewer points at the end. The game ends when nobody can place
// (blocked), when the only seat that still can is ahead of all others (decided), or when
// at most one seat is left (elimination). Rules version 1.
package blocking
