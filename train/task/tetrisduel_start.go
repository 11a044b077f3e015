package task

import (
	"blockyard/agents/mlp"
	bot "blockyard/agents/tetrisduelbot"
)

// duelBoard are the terms of the board. The evaluator takes the difference of the two
// seats' halves, so that each term stands for two features.
var duelBoard = []handTerm{
	{"holes", bot.Tuned[bot.Holes], 10},
	{"covers", bot.Tuned[bot.Covers], 10},
	{"row edges", bot.Tuned[bot.RowEdges], 30},
	{"column edges", bot.Tuned[bot.ColEdges], 20},
	{"wells", bot.Tuned[bot.Wells], 10},
	{"bumps", bot.Tuned[bot.Bumps], 20},
	{"open", bot.Tuned[bot.Open], 100},
	{"heap", bot.Tuned[bot.Heap], 500},
	{"peak", bot.Tuned[bot.Peak], 30},
	{"danger", bot.Tuned[bot.Danger], 10},
	{"clean lacking 1", bot.Tuned[bot.Clean1], 2},
	{"clean lacking 2", bot.Tuned[bot.Clean2], 2},
	{"clean lacking 3", bot.Tuned[bot.Clean3], 2},
	{"clean lacking 4", bot.Tuned[bot.Clean4], 2},
	{"calm lacking 1", bot.Tuned[bot.Calm], 2},
	{"kinds that take", bot.Tuned[bot.Kinds], 4},
}

// duelPromise are the other terms.
var duelPromise = []handTerm{
	{"lead at the end", bot.Tuned[bot.Lead], 20},
	{"opponent gains in 0 turns", -bot.Tuned[bot.Now], 3},
	{"opponent takes with combo", -bot.Tuned[bot.Now] - 2*bot.Tuned[bot.Carry], 5},
	{"own gains in 0 turns", bot.Tuned[bot.Next], 3},
	{"own takes with combo", bot.Tuned[bot.Next], 5},
	{"opponent gains in 1 turns", -bot.Tuned[bot.Later], 3},
	{"opponent takes later with combo", -bot.Tuned[bot.Later], 5},
	{"combo", bot.Tuned[bot.Carry], 5},
}

// startTetrisDuel is the baseline evaluator as a net: its values are the evaluator's times
// handUnit, except for the growing weight of the lead in the last half-turns and for leads
// beyond the range of the features.
func startTetrisDuel(hidden int, seed uint64) (*mlp.Net, error) {
	terms := duelPromise
	for _, t := range duelBoard {
		own, opponent := t, t
		own.feature, opponent.feature, opponent.weight = "own "+t.feature, "opponent "+t.feature, -t.weight
		terms = append(terms, own, opponent)
	}
	return startAsHand(bot.FeatureNames, terms, hidden, seed)
}
