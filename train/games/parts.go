package games

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"blockyard/agents/mlp"
)

// mirrorColumns makes a Mirror for features named "… height X", "… step X" (the signed step from column X-1 to X) and
// "… step size X", and for pairs of features that change places. All others are the same on both sides.
func mirrorColumns(names []string, width int, pairs ...[2]string) func([]float32) {
	index := map[string]int{}
	for i, n := range names {
		index[n] = i
	}
	from, sign := make([]int, len(names)), make([]float32, len(names))
	for i, n := range names {
		from[i], sign[i] = i, 1
		cut := strings.LastIndexByte(n, ' ')
		if cut < 0 {
			continue
		}
		x, err := strconv.Atoi(n[cut+1:])
		if err != nil {
			continue
		}
		switch what := n[:cut]; {
		case strings.HasSuffix(what, " height"):
			from[i] = index[fmt.Sprintf("%s %d", what, width-1-x)]
		case strings.HasSuffix(what, " step"):
			from[i], sign[i] = index[fmt.Sprintf("%s %d", what, width-x)], -1
		case strings.HasSuffix(what, " step size"):
			from[i] = index[fmt.Sprintf("%s %d", what, width-x)]
		}
	}
	for _, p := range pairs {
		from[index[p[0]]], from[index[p[1]]] = index[p[1]], index[p[0]]
	}
	return func(row []float32) {
		for i, j := range from { // pairs change places
			if j < i {
				row[i], row[j] = sign[i]*row[j], sign[j]*row[i]
			} else if j == i {
				row[i] *= sign[i]
			}
		}
	}
}

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
