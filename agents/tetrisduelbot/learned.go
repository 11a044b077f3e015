package tetrisduelbot

import (
	"blockyard/agents/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// NewLearned returns the evaluator that is net over the features. Its output is the log odds
// that the seat that has just moved wins, or anything else that is higher where that seat's
// position is better. For the other seat the position is worth the negative of that.
func NewLearned(net *mlp.Net) (*features.Learned, error) {
	side := func(s env.State, _ int) int { return moved(s.(*tetrisduel.State)) }
	return &features.Learned{Net: net, Reader: &FeatureReader{}, Own: OwnLen, Side: side}, features.Check(net, Len)
}
