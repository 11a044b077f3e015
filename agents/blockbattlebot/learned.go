package blockbattlebot

import (
	"blockyard/agents/features"
	"blockyard/agents/mlp"
	"blockyard/env"
)

// NewLearned returns the evaluator that is net over the features. Its output is the log odds
// that the seat wins, or anything else that is higher where the seat's position is better.
func NewLearned(net *mlp.Net) (*features.Learned, error) {
	side := func(_ env.State, seat int) int { return seat }
	return &features.Learned{Net: net, Reader: &FeatureReader{}, Own: OwnLen, Side: side}, features.Check(net, Len)
}
