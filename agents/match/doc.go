// Package match plays games between agents and measures which agent is stronger.
//
// Play plays one game and returns its record. A Match plays many on several goroutines:
//
//	TwoPlayer     two players; pairs of games with the seats swapped
//	MultiPlayer   one player against copies of another; sets in which it has every seat once
//	SinglePlayer  one or two players alone on the same seeds
//
// Results have 95 % confidence intervals; they print as JSON and as text. A match of two players can stop as soon as
// a sequential test (SPRT) decides.
package match
