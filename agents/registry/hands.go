package registry

import (
	"errors"
	"fmt"

	"blockyard/agents/blockbattlebot"
	"blockyard/agents/blockingbot"
	"blockyard/agents/dropbloxbot"
	"blockyard/agents/search"
	"blockyard/agents/tetrisduelbot"
	"blockyard/agents/wintetrisbot"
	"blockyard/env"
)

// A Hand is a game's player hand with weights of one's choice.
type Hand struct {
	Terms []string // the names of its terms, a weight each
	// Load reads weights from a file, or returns those that hand plays with if path is empty.
	Load func(path string) ([]float32, error)

	game     *env.Game
	outcomes int // what a third and a fourth ply tell apart
	play     func(h *Hand, weights []float32, options string) (Factory, error)
}

// HandOf returns the hand of g; every game has one.
func HandOf(g *env.Game) (*Hand, error) {
	c := find(g)
	if c == nil || c.hand == nil {
		return nil, fmt.Errorf("%s has no weights to tune", g.Name)
	}
	h := *c.hand
	h.game, h.outcomes = g, c.outcomes
	return &h, nil
}

// Player returns the hand with these weights and with the options, which are those that
// follow "hand:" in the text of a player, a file of weights excepted.
func (h *Hand) Player(weights []float32, options string) (Factory, error) {
	if len(weights) != len(h.Terms) {
		return nil, fmt.Errorf("%d weights, %s has %d terms", len(weights), h.game.Name, len(h.Terms))
	}
	f, err := h.play(h, weights, options)
	if err != nil {
		return nil, fmt.Errorf("agent %q: %w", "hand:"+options, err)
	}
	return f, nil
}

var errTwoWeights = errors.New("option weights: the weights are given")

// searching is what Hand.play is where hand is a search with an evaluator of the weights.
func searching(judge func(w []float32) search.Evaluator) func(*Hand, []float32, string) (Factory, error) {
	return func(h *Hand, w []float32, text string) (Factory, error) {
		o, err := readOptions(text)
		if err != nil {
			return nil, err
		}
		if o.weights != "" {
			return nil, errTwoWeights
		}
		o.Outcomes = h.outcomes
		return searcher(h.game, evaluator{"hand", func(*env.Game, string) (maker, error) {
			return func() (search.Evaluator, error) { return judge(w), nil }, nil
		}}, o)
	}
}

// The hands of the games.
var (
	blockbattleWeights = Hand{
		Terms: blockbattlebot.TermNames[:],
		Load:  func(path string) ([]float32, error) { w, err := blockbattlebot.LoadWeights(path); return w[:], err },
		play:  searching(func(w []float32) search.Evaluator { return &blockbattlebot.Hand{Weights: blockbattlebot.Weights(w)} }),
	}
	tetrisduelWeights = Hand{
		Terms: tetrisduelbot.TermNames[:],
		Load:  func(path string) ([]float32, error) { w, err := tetrisduelbot.LoadWeights(path); return w[:], err },
		play:  searching(func(w []float32) search.Evaluator { return &tetrisduelbot.Hand{Weights: tetrisduelbot.Weights(w)} }),
	}
	blockingWeights = Hand{
		Terms: blockingbot.TermNames[:],
		Load:  func(path string) ([]float32, error) { w, err := blockingbot.LoadWeights(path); return w[:], err },
		play:  searching(func(w []float32) search.Evaluator { return &blockingbot.Hand{Weights: blockingbot.Weights(w)} }),
	}
	wintetrisWeights = Hand{
		Terms: wintetrisbot.TermNames[:],
		Load:  func(path string) ([]float32, error) { w, err := wintetrisbot.LoadWeights(path); return w[:], err },
		play: func(h *Hand, w []float32, text string) (Factory, error) {
			o, err := readWintetris(h.game, text)
			if err == nil && o.weights != "" {
				err = errTwoWeights
			}
			return o.hand(wintetrisbot.Weights(w)), err
		},
	}
	dropbloxWeights = Hand{
		Terms: dropbloxbot.TermNames[:],
		Load:  func(path string) ([]float32, error) { w, err := dropbloxbot.LoadWeights(path); return w[:], err },
		play: func(_ *Hand, w []float32, text string) (Factory, error) {
			o, err := readDropblox(text)
			if err == nil && o.weights != "" {
				err = errTwoWeights
			}
			return o.hand(dropbloxbot.Weights(w)), err
		},
	}
)
