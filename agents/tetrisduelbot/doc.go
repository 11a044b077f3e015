// Package tetrisduelbot is what is ours about the Tetris duel: what its positions look
// like as numbers, the hand-tuned and the learned evaluator over them, and the dialogue
// of the contest. "Rules §n" in comments is section n of the rules of the game.
package tetrisduelbot
