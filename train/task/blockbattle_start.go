package task

import (
	bot "blockyard/agents/blockbattlebot"
	"blockyard/agents/mlp"
)

// handTerms are the evaluator's terms as features: the feature, the term's weight, and how
// much of the term one of the feature is. Points count as rows sent, 3 each, and the rest.
var handTerms = []handTerm{
	{"own holes", bot.Tuned[bot.Holes], 8},
	{"own covers", bot.Tuned[bot.Covers], 10},
	{"own hole rows", bot.Tuned[bot.HoleRows], 5},
	{"own overhangs", bot.Tuned[bot.Overhangs], 4},
	{"own row edges", bot.Tuned[bot.RowEdges], 30},
	{"own column edges", bot.Tuned[bot.ColEdges], 20},
	{"own wells", bot.Tuned[bot.Wells], 10},
	{"own bumps", bot.Tuned[bot.Bumps], 20},
	{"own cells", bot.Tuned[bot.Cells], 60},
	{"own peak squared", bot.Tuned[bot.Peak], 50},
	{"own spawn lack squared", bot.Tuned[bot.Spawn], 8},
	{"own gap rows open", bot.Tuned[bot.GapOpen], 4},
	{"own gap rows closed", bot.Tuned[bot.GapClosed], 4},
	{"own ready rows", bot.Tuned[bot.Ready], 4},
	{"own four ready", bot.Tuned[bot.Quad], 1},
	{"own T slots", bot.Tuned[bot.Slots], 2},
	{"own T singles", bot.Tuned[bot.Singles], 2},
	{"own double ready", bot.Tuned[bot.Doubles], 1},
	{"own T notches", bot.Tuned[bot.Notches], 2},
	{"own T halves", bot.Tuned[bot.Halves], 1},
	{"own points over 3", bot.Tuned[bot.Points], 2},
	{"rows sent", bot.Tuned[bot.Points]*3 + bot.Tuned[bot.Sent], 3},
	{"own combo", bot.Tuned[bot.Combo], 4},
	{"own few skips", bot.Tuned[bot.Skips], 2},
	{"rows sent into little room", bot.Tuned[bot.Pressed], 30},
	{"opponent buried", bot.Tuned[bot.Buried], 1},
	{"own exposure squared", bot.Tuned[bot.Exposed], 50},
}

// startBlockBattle is the baseline evaluator as a net: within one decision, its values
// differ as the evaluator's do, times handUnit, except for combos beyond 8.
func startBlockBattle(hidden int, seed uint64) (*mlp.Net, error) {
	return startAsHand(bot.FeatureNames, handTerms, hidden, seed)
}
