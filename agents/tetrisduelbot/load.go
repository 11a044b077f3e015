package tetrisduelbot

import (
	"embed"

	"blockyard/agents/mlp"
	"blockyard/agents/weightfile"
	"blockyard/env"
)

// The files that programs load weights from. A contest bot carries its own and reaches
// nothing of this file.

//go:embed weights
var shipped embed.FS

const shippedNet = "weights/tetrisduel.safetensors"

// ErrNotShipped is wrapped where shipped weights are asked for and there are none.
var ErrNotShipped = mlp.ErrNotShipped

// Shipped returns the trained net that comes with the program.
func Shipped(g *env.Game) (*mlp.Net, error) { return LoadNet(g, "") }

// LoadNet reads a net for g from a safetensors file, or the shipped one if path is empty.
// The error says in what a file does not fit: other game, rules, features or shape.
func LoadNet(g *env.Game, path string) (*mlp.Net, error) {
	fits := func(net *mlp.Net) error {
		_, err := NewLearned(net)
		return err
	}
	nets := weightfile.Nets{Files: shipped, Shipped: shippedNet, Features: FeatureNames, Fits: fits}
	return nets.Load(g, path)
}

// LoadWeights reads the weights of a Hand from a JSON file, or returns the tuned ones if
// path is empty.
func LoadWeights(path string) (Weights, error) {
	if path == "" {
		return Tuned, nil
	}
	var w Weights
	if err := weightfile.ReadTerms(path, TermNames[:], w[:]); err != nil {
		return Weights{}, err
	}
	return w, nil
}

// ParseWeights reads a JSON object that gives every term, by name, its weight, a number
// within ±1000.
func ParseWeights(text []byte) (Weights, error) {
	var w Weights
	err := weightfile.ParseTerms(text, TermNames[:], w[:])
	return w, err
}

// JSON returns the weights as ParseWeights reads them, a term a line.
func (w Weights) JSON() []byte { return weightfile.FormatTerms(TermNames[:], w[:]) }
