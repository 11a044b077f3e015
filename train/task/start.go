package task

import (
	"fmt"
	"math/rand/v2"

	"blockyard/agents/mlp"
)

// handUnit is the output of a net for one unit of the baseline evaluator that it stands for.
const handUnit = 0.01

// A handTerm is a term of a baseline evaluator as a feature of the net.
type handTerm struct {
	feature string
	weight  float32 // of the term
	unit    float32 // how much of the term one of the feature is
}

// startAsHand is the sum of terms, times handUnit, as a net of one hidden layer over
// features. Two units carry the sum and its negative, because leaky ReLUs pass 1 or 0.01 of
// either. The others have random weights by seed and do not count yet.
func startAsHand(features []string, terms []handTerm, hidden int, seed uint64) (*mlp.Net, error) {
	if hidden < 2 {
		return nil, fmt.Errorf("a hidden layer of %d, want at least 2 to hold the baseline evaluator", hidden)
	}
	index, n := map[string]int{}, len(features)
	for i, name := range features {
		index[name] = i
	}
	first := mlp.Layer{In: n, Out: hidden, W: make([]float32, hidden*n), B: make([]float32, hidden)}
	for _, t := range terms {
		i, ok := index[t.feature]
		if !ok {
			return nil, fmt.Errorf("no feature %q", t.feature)
		}
		first.W[i] += t.weight * t.unit * handUnit
		first.W[n+i] = -first.W[i]
	}
	r := rand.New(rand.NewPCG(seed, 9))
	for i := 2 * n; i < len(first.W); i++ {
		first.W[i] = float32(r.NormFloat64() * 0.12)
	}
	last := mlp.Layer{In: hidden, Out: 1, W: make([]float32, hidden), B: make([]float32, 1)}
	last.W[0], last.W[1] = 1/1.01, -1/1.01
	return mlp.New([]mlp.Layer{first, last})
}
