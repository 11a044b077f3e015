// Package tetrisduelbot plays the Tetris duel (package env/tetrisduel): the features of a
// position, a hand-tuned and a learned evaluator, and the protocol of the contest. "Rules §n" in
// comments is section n of the rules of the game.
package tetrisduelbot
