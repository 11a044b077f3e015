// Package wintetrisbot plays WinTetris: the demo solver of the rules (package
// env/wintetris) with its hand-tuned rating or a trained net in the rating's place. All share
// the move generator, the placer and the split of the work over ticks. "Rules §n" in
// comments is section n of those rules.
package wintetrisbot
