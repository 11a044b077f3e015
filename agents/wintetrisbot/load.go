package wintetrisbot

import (
	"embed"

	"blockyard/agents/mlp"
	"blockyard/agents/weightfile"
	"blockyard/env"
	"blockyard/env/wintetris"
)

//go:embed weights
var shipped embed.FS

const shippedNet = "weights/wintetris.safetensors"

// Shipped returns the trained net that comes with the program.
func Shipped() (*mlp.Net, error) { return LoadNet(wintetris.Game, "") }

// LoadNet reads a net for g, which is a variant of WinTetris, from a safetensors file, or the
// shipped one if path is empty. The error says in what a file does not fit: other game,
// rules, features or shape.
func LoadNet(g *env.Game, path string) (*mlp.Net, error) {
	fits := func(net *mlp.Net) error {
		_, err := NewLearned(net)
		return err
	}
	nets := weightfile.Nets{Files: shipped, Shipped: shippedNet, Features: FeatureNames, Fits: fits}
	return nets.Load(g, path)
}

// LoadWeights reads the weights of a Hand from a JSON file, or returns the demo solver's own
// if path is empty.
func LoadWeights(path string) (Weights, error) {
	if path == "" {
		return Demo, nil
	}
	var w Weights
	if err := weightfile.ReadTerms(path, TermNames[:], w[:]); err != nil {
		return Weights{}, err
	}
	return w, nil
}

// JSON returns the weights as LoadWeights reads them, a term a line.
func (w Weights) JSON() []byte { return weightfile.FormatTerms(TermNames[:], w[:]) }
