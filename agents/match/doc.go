// Package match plays games between agents and measures which agent is stronger.
//
// Play plays one game and returns its record. Three kinds of match play many games on
// several goroutines, with the same result for any number of them:
//
//	TwoPlayer     two players; pairs of games with the seats swapped
//	MultiPlayer   one player against copies of another; sets in which it has every seat once
//	SinglePlayer  one or two players alone on the same seeds
//
// Results come with 95 % confidence intervals. A TwoPlayer match can stop as soon as a
// sequential test (SPRT) decides. A Report is a result as JSON and as text.
package match
