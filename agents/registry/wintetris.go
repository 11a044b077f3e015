package registry

import (
	"errors"
	"fmt"
	"strings"

	"blockyard/agents/wintetrisbot"
	"blockyard/env"
	"blockyard/env/wintetris"
)

var wintetrisPlayers = []player{
	{"hand", wintetrisHand},
	{"learned", wintetrisLearned},
}

func wintetrisHand(g *env.Game, options string) (Factory, error) {
	o, err := readWintetris(g, options)
	if err != nil {
		return nil, err
	}
	w, err := wintetrisbot.LoadWeights(o.weights)
	if err != nil {
		return nil, err
	}
	return o.hand(w), nil
}

func wintetrisLearned(g *env.Game, options string) (Factory, error) {
	o, err := readWintetris(g, options)
	if err != nil {
		return nil, err
	}
	net, err := wintetrisbot.LoadNet(g, o.weights)
	if err != nil {
		return nil, err
	}
	return func(uint64) (env.Agent, error) {
		r, err := wintetrisbot.NewLearned(net.Clone())
		if err != nil {
			return nil, err
		}
		return wintetrisbot.NewAgent(wintetrisbot.NewSolver(r, o.parts)), nil
	}, nil
}

// wintetrisOptions are those of the demo solver.
type wintetrisOptions struct {
	weights string
	parts   int
}

func (o wintetrisOptions) hand(w wintetrisbot.Weights) Factory {
	return func(uint64) (env.Agent, error) {
		return wintetrisbot.NewAgent(wintetrisbot.NewSolver(wintetrisbot.NewHand(w), o.parts)), nil
	}
}

func readWintetris(g *env.Game, text string) (wintetrisOptions, error) {
	o := wintetrisOptions{parts: wintetris.Parts}
	if text == "" {
		return o, nil
	}
	for _, part := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "weights":
			if o.weights = value; value == "" {
				err = errors.New("no file is named")
			}
		case "parts":
			if o.parts, err = number(value, wintetrisbot.MaxParts); err == nil && g != wintetris.TickGame {
				err = fmt.Errorf("%s has the rules' own number; %s leaves it to the player", g.Name, wintetris.TickGame.Name)
			}
		default:
			return o, fmt.Errorf("unknown option %q; there are parts, weights", key)
		}
		if err != nil {
			return o, fmt.Errorf("option %s: %w", key, err)
		}
	}
	return o, nil
}
