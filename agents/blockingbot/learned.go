package blockingbot

import (
	"blockyard/agents/features"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/blocking"
)

// NewLearned returns the evaluator that is net over the features. Its output is the log odds
// that the seat wins, or anything else that is higher where the seat's position is better. The
// network knows positions as they are for a seat that has just placed: with two seats, any
// other position is worth the negative of what it is worth to the other seat.
func NewLearned(net *mlp.Net) (*features.Learned, error) {
	side := func(state env.State, seat int) int {
		if s := state.(*blocking.State); s.Seats == 2 {
			return placer(s)
		}
		return seat
	}
	return &features.Learned{Net: net, Reader: &FeatureReader{}, Own: OwnLen, Side: side}, features.Check(net, Len)
}
