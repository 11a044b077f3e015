package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"blockyard/agents/dropbloxbot"
	"blockyard/env"
	"blockyard/env/dropblox"
)

var dropbloxPlayers = []player{
	{"hand", dropbloxHand},
	{"learned", dropbloxLearned},
}

func dropbloxHand(_ *env.Game, options string) (Factory, error) {
	o, err := readDropblox(options)
	if err != nil {
		return nil, err
	}
	w, err := dropbloxbot.LoadWeights(o.weights)
	return o.hand(w), err
}

func dropbloxLearned(g *env.Game, options string) (Factory, error) {
	o, err := readDropblox(options)
	if err != nil {
		return nil, err
	}
	net, err := dropbloxbot.LoadNet(g, o.weights)
	return o.factory(func() (dropbloxbot.Rater, error) { return dropbloxbot.NewLearned(net.Clone()) }), err
}

// dropbloxOptions are those of a beam search.
type dropbloxOptions struct {
	weights      string
	width, depth int
	limit        time.Duration // for a choice; with it the width fits it
}

func (o dropbloxOptions) hand(w dropbloxbot.Weights) Factory {
	return o.factory(func() (dropbloxbot.Rater, error) { return &dropbloxbot.Hand{Weights: w}, nil })
}

func (o dropbloxOptions) factory(rater func() (dropbloxbot.Rater, error)) Factory {
	return func(uint64) (env.Agent, error) {
		r, err := rater()
		if err != nil {
			return nil, err
		}
		a := dropbloxbot.NewAgent(r, o.width, o.depth)
		if o.limit == 0 {
			return a, nil
		}
		return &hurried{a, o.limit}, nil
	}
}

// A hurried agent has so much time for every choice.
type hurried struct {
	*dropbloxbot.Agent
	limit time.Duration
}

// Act implements env.Agent.
func (h *hurried) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	ctx, cancel := context.WithTimeout(ctx, h.limit)
	defer cancel()
	return h.Agent.Act(ctx, s, seat)
}

func readDropblox(text string) (dropbloxOptions, error) {
	var o dropbloxOptions
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
		case "width":
			o.width, err = number(value, dropbloxbot.MaxWidth)
		case "depth":
			o.depth, err = number(value, dropblox.Known)
		case "time":
			if o.limit, err = time.ParseDuration(value); err == nil && o.limit <= 0 {
				err = fmt.Errorf("%v is no time to think", o.limit)
			}
		default:
			return o, fmt.Errorf("unknown option %q; there are depth, time, weights, width", key)
		}
		if err != nil {
			return o, fmt.Errorf("option %s: %w", key, err)
		}
	}
	if o.width > 0 && o.limit > 0 {
		return o, errors.New("time decides the width: give one of the two")
	}
	return o, nil
}
