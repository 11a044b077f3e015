// Package env is the contract that every block game of this module keeps: what an action, a position (State), a game
// and an agent are. It imports the standard library only, so that the rules of a game compile into a contest bot with
// nothing around them. Package env/vec steps many games at once and env/games lists all of them.
//
// # Glossary
//
//	seat          a player's place in a game, numbered from 0
//	acting        a seat that must choose an action now; in a simultaneous game several seats
//	joint move    one action per acting seat (Moves)
//	action        a number below Game.Actions that means the same in every position
//	action mask   one bit per action, set where the action is legal
//	None          no action: a missing, late or illegal answer, as the contest treats it
//	ply           one choice of one seat; an n-ply search looks n choices ahead
//	step          one joint move and all that follows from it
//	afterstate    the position after one seat's action, before the other seats choose
//	draw          one random outcome (a piece, a hole in a garbage row), recorded and forceable
//	hidden        what a seat may not know; Hide redraws it before an agent sees a copy
//	observation   what one seat sees: planes and globals
//	plane         one board-sized layer of an observation, one byte per cell
//	globals       the numbers of an observation that belong to no cell
//	score         points, as the contest counts them
//	result        -1 (lost) to 1 (won), once the game is over
//	reward        by how much a step changes a seat's result or, if so chosen, its score
//	episode       one game, from its reset to its end
//	terminated    the episode ended because the game is over
//	truncated     the episode ended because a step limit cut it off
//	autoreset     an ended episode is followed by the next one without a call to Reset
//	rollout       a fixed number of steps of all environments
//	agent         anything that chooses actions for one seat (Agent)
//	opponent      an agent in a seat that the caller does not drive
//	variant       a Game with other options, named "<game>:<variant>"
//	garbage       rows with holes that one player's clears push into the other's board
//	bag           a random order of all kinds of pieces, dealt before the next such order
//	combo         clears in consecutive turns, which score extra
//	top out       to lose because the board is full
//
// # Coordinates
//
// A board has H rows and W columns. Row 0 is the top row and column 0 the left column, unless a game's own
// documentation says otherwise. Planes are row-major: cell (x, y) of plane c is element (c*H+y)*W+x.
//
// # Adding a game
//
// Two folders and two lines make a game that every program can step, serve, play, record,
// check, view, export and train:
//
//	env/<game>                   the rules: a Game and a State, checked by package envtest
//	agents/bots/<game>bot        its Entry (package agents/bots/entry): evaluators and features
//	env/games/games.go           one line: the Game and its variants
//	agents/bots/bots.go          one line: the Entry
//
// TestSixthGame of package rpc/commands adds the games of envtest/toy in this way,
// with agents/bots/entry/toybot as their Entry, and runs all programs.
//
// For a game that is part of the repository, tests also ask for its rules, env/<game>/RULES.md with the sections of
// the others, and for a recorded game in datasets/games, and "make sign" asks for its lines in agents/signatures.txt.
// The Gymnasium ids are written by "python rpc/python/environments.py --write".
//
// Some things are work of their own, and a game may go without: weights of a trained network
// (agents/bots/<game>bot/weights) and what speeds up its training (train/games), a contest (a codec,
// a referee and its settings in agents/bots/<game>bot, a program in agents/submit/programs), transcripts
// of the original engine (datasets/conform) and a picture for the list of the web viewer.
package env
