package handles

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"blockyard/agents/bots/wintetrisbot"
	"blockyard/env/wintetris"
)

const MaxOptions = 4096

const maxWeight = 1e6

type settings struct {
	evaluator, weights string
	parts              int
	terms              map[wintetrisbot.Term]float32
}

// NewSolver creates a demo solver from options:
//
//	evaluator=hand|learned    the evaluator; by default hand
//	weights=FILE              weights instead of the shipped ones
//	parts=4                   number of ticks over which the work is split
//	holes=-500;slots=0;row=200;rows=500;top=-150;bottom=-75;chasms=400
//	                          weights of hand
//
// separated by semicolons, in any order, each at most once. Spaces around them are ignored.
func NewSolver(options string) (wintetris.Solver, error) {
	s, err := parse(options)
	if err != nil {
		return nil, err
	}
	rater, err := s.rater()
	if err != nil {
		return nil, err
	}
	return wintetrisbot.NewSolver(rater, s.parts), nil
}

func parse(options string) (*settings, error) {
	if len(options) > MaxOptions {
		return nil, fmt.Errorf("options: longer than %d bytes", MaxOptions)
	}
	s := &settings{evaluator: "hand", parts: wintetris.Parts, terms: map[wintetrisbot.Term]float32{}}
	seen := map[string]bool{}
	for _, part := range strings.Split(options, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok:
			return nil, fmt.Errorf("option %.80q: want NAME=VALUE", part)
		case seen[name]:
			return nil, fmt.Errorf("option %.80q is given twice", name)
		}
		seen[name] = true
		if err := s.set(name, value); err != nil {
			return nil, fmt.Errorf("option %.80s: %w", name, err)
		}
	}
	if s.evaluator != "hand" && len(s.terms) > 0 {
		return nil, fmt.Errorf("evaluator %s has no single weights", s.evaluator)
	}
	return s, nil
}

func (s *settings) set(name, value string) error {
	switch name {
	case "evaluator":
		if value != "hand" && value != "learned" {
			return fmt.Errorf("%.80q: want hand or learned", value)
		}
		s.evaluator = value
	case "weights":
		if value == "" {
			return fmt.Errorf("want a file")
		}
		s.weights = value
	case "parts":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > wintetrisbot.MaxParts {
			return fmt.Errorf("%.80q: want 1 to %d", value, wintetrisbot.MaxParts)
		}
		s.parts = n
	default:
		t := slices.Index(wintetrisbot.TermNames[:], name)
		if t < 0 {
			return fmt.Errorf("unknown; want evaluator, weights, parts, %s",
				strings.Join(wintetrisbot.TermNames[:], ", "))
		}
		v, err := strconv.ParseFloat(value, 32)
		if err != nil || math.IsNaN(v) || math.Abs(v) > maxWeight {
			return fmt.Errorf("%.80q: want a number within ±%d", value, int(maxWeight))
		}
		s.terms[wintetrisbot.Term(t)] = float32(v)
	}
	return nil
}

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
