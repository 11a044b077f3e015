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
// Two folders: env/<game> with the rules (a Game value and a State), and agents/<game>bot
// with what is ours about its contest (features, search, protocol). Package envtest checks
// every promise made here.
//
// Lines in tables that list games, which tests ask for: two in env/games, one in
// agents/registry/games.go (with a file beside it that says what hand and learned are), a
// recorded game in datasets/games, and for Python one in rpc/python/blockyard/games.py and
// one in rpc/python/environments.py. The game is then stepped, served, played in the arena,
// replayed, shown in terminal, browser and notebook, exported, and fuzzed; vec, rpc,
// datasets and the rest of Python range over the tables.
//
// Lines that a game has if it offers what they list: train/main.go (a net is trained, with
// train/task/<game>.go), datasets/conform.go (transcripts), agents/dialogue.go and
// agents/host.go (a contest in lines), agents/bundle/game.go (a bot in one file),
// rpc/features.go (what its net sees, over the wire), datasets/viewer/page/list.js (a title
// in two words, a little picture).
//
// Counted for the four games that came after the first, outside files of their own: the
// Tetris duel touched 8 files by 15 lines, Blocking 11 by 24, WinTetris with three variants
// and a plug-in 8 by 19, Dropblox with a contest server and a viewer of commands 17 by
// 28. Files of a game's own beside shared ones came to about 850 lines each for the first
// two, a third of them tests, 450 for WinTetris and 2,200 for Dropblox.
package env
