package handles

import (
	"errors"

	"blockyard/agents/wintetrisbot"
)

func (s *settings) rater() (wintetrisbot.Rater, error) {
	if s.evaluator == "learned" {
		return nil, errors.New("evaluator learned: no net is shipped")
	}
	if s.weights != "" {
		return nil, errors.New("no weights are read for hand")
	}
	w := wintetrisbot.Demo
	for t, v := range s.terms {
		w[t] = v
	}
	return wintetrisbot.NewHand(w), nil
}
