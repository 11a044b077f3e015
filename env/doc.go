// Package env is the contract every block game here keeps, and nothing else: what an
// action, a position and a player are. It imports the standard library only, so that
// the rules of a game compile into a contest bot with nothing around them.
//
// # Vocabulary
//
//	seat         a player's place, 0-based; a joint move holds one Action per seat
//	acting       must choose now; several seats at once in a simultaneous game
//	action       an id in a game's fixed space, meaning the same in every position
//	afterstate   the position after one seat's choice alone, the others standing still
//	draw         one random outcome (a piece, a hole column), small and recordable
//	hidden       what a seat may not know: redrawn by Hide before an agent sees a copy
//	plane        one H×W layer of bytes in an observation; globals are the numbers beside
//	ply          one choice of one seat
//
// # Coordinates
//
// Boards are H rows by W columns, row 0 on top, column 0 on the left, unless a game's
// own doc.go says otherwise. Planes are written row by row: cell (x, y) of plane c is
// element (c*H+y)*W+x.
//
// # Adding a game
//
// A folder env/<game> with the rules (a Game value and a State), a folder
// agents/<game>bot with what is ours about its contest (features, protocol), and lines in
// the tables that list games. Package envtest checks every promise made here.
//
// Counted for the two games that came after the first, outside their own folders: the
// Tetris duel touched 8 files by 15 lines, Blocking 11 files by 24 lines: env/games,
// agents/spec, agents/dialogue.go, agents/host.go, agents/bundle/game.go,
// datasets/conform.go, train/main.go and rpc/python/blockyard/games.py, where a line or
// two name the game. Files of the game's own beside shared ones (its host's table, its spec, its
// bundle's replay, what it offers a trainer) came to about 850 lines each, a third of them tests.
package env
