package learn

import (
	"fmt"
	"math/rand/v2"

	bot "blockyard/agents/blockbattlebot"
	"blockyard/agents/valuenet"
)

// handUnit is what one of the hand-tuned evaluator's units counts in a net that is it.
const handUnit = 0.01

// handTerms are the evaluator's terms as features: the feature, what its weight is a sum
// of, and how much of the term one of the feature is. Points count as rows sent, 3 each,
// and what is over.
var handTerms = []struct {
	feature string
	weight  float32
	unit    float32
}{
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

// startBlockBattle is the hand-tuned evaluator as a net of one hidden layer: two units
// carry its sum and the sum's negative, of which the leaky ReLUs leave 1 and 0.01 either
// way; the others have random weights of seed and do not count yet. Within one decision,
// its values differ as the evaluator's do, times handUnit (but for combos past 8).
func startBlockBattle(hidden int, seed uint64) (*valuenet.Net, error) {
	if hidden < 2 {
		return nil, fmt.Errorf("a hidden layer of %d, want at least 2 to hold the hand-tuned evaluator", hidden)
	}
	index := map[string]int{}
	for i, name := range bot.FeatureNames {
		index[name] = i
	}
	first := valuenet.Layer{In: bot.Len, Out: hidden, W: make([]float32, hidden*bot.Len), B: make([]float32, hidden)}
	for _, t := range handTerms {
		i, ok := index[t.feature]
		if !ok {
			return nil, fmt.Errorf("no feature %q", t.feature)
		}
		first.W[i] = t.weight * t.unit * handUnit
		first.W[bot.Len+i] = -first.W[i]
	}
	r := rand.New(rand.NewPCG(seed, 9))
	for i := 2 * bot.Len; i < len(first.W); i++ {
		first.W[i] = float32(r.NormFloat64() * 0.12)
	}
	last := valuenet.Layer{In: hidden, Out: 1, W: make([]float32, hidden), B: make([]float32, 1)}
	last.W[0], last.W[1] = 1/1.01, -1/1.01
	return valuenet.New([]valuenet.Layer{first, last})
}
