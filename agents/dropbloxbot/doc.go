// Package dropbloxbot plays Dropblox (package env/dropblox): a beam search over the
// six blocks that are known, with a hand-tuned rating of boards or a learned one. "Rules §n"
// in comments is section n of the rules of the game.
//
//	scan.go      what boards are measured by
//	beam.go      the search; keep.go what it goes on with
//	hand.go      classic terms: those of placements along a line, those of the board at its end
//	learned.go   a trained net: points made and the worth of the board they leave
//	features.go  what it reads; slots.go rows that one block may clear at once
//	agent.go     an agent with a fixed width or a time limit
//	entry.go     what programs offer for the game
package dropbloxbot
