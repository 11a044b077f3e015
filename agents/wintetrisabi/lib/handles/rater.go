package handles

import (
	"blockyard/agents/wintetrisbot"
	"blockyard/env/wintetris"
)

// rater creates the evaluator of the settings and loads its weights.
func (s *settings) rater() (wintetrisbot.Rater, error) {
	if s.evaluator == "learned" {
		net, err := wintetrisbot.Entry.LoadNet(wintetris.Game, s.weights)
		if err != nil {
			return nil, err
		}
		return wintetrisbot.NewLearned(net)
	}
	w, err := wintetrisbot.Entry.Baseline.Load(s.weights)
	if err != nil {
		return nil, err
	}
	for t, v := range s.terms {
		w[t] = v
	}
	return wintetrisbot.NewHand(wintetrisbot.Weights(w)), nil
}
