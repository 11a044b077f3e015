package blockingbot

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"blockyard/agents/valuenet"
	"blockyard/env"
)

// The files that programs load weights from. A contest bot carries its own and reaches
// nothing of this file.

//go:embed weights
var shipped embed.FS

const shippedNet = "weights/blocking.safetensors"

// ErrNotShipped is wrapped where shipped weights are asked for and there are none.
var ErrNotShipped = errors.New("no weights shipped")

// Shipped returns the trained net that comes with the program, for g, a variant of
// blocking.
func Shipped(g *env.Game) (*valuenet.Net, error) {
	data, err := shipped.ReadFile(shippedNet)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: train some, or name a file", g.Name, ErrNotShipped)
	}
	if err != nil {
		return nil, err
	}
	return parseNet(g, shippedNet, data)
}

// LoadNet reads a net for g from a safetensors file, or the shipped one if path is empty.
// The error says in what a file does not fit: other game, rules, features or shape.
func LoadNet(g *env.Game, path string) (*valuenet.Net, error) {
	if path == "" {
		return Shipped(g)
	}
	data, err := valuenet.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseNet(g, path, data)
}

func parseNet(g *env.Game, path string, data []byte) (*valuenet.Net, error) {
	net, facts, err := valuenet.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	game, _, _ := strings.Cut(g.Name, ":") // one net for all variants
	if err := facts.Check(game, g.Rules, FeatureNames); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := NewLearned(net); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return net, nil
}

// LoadWeights reads the weights of a Hand from a JSON file, or returns the tuned ones if
// path is empty.
func LoadWeights(path string) (Weights, error) {
	if path == "" {
		return Tuned, nil
	}
	data, err := valuenet.ReadFile(path)
	if err != nil {
		return Weights{}, err
	}
	w, err := ParseWeights(data)
	if err != nil {
		return Weights{}, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// maxWeight is the greatest weight a file may give.
const maxWeight = 1000

// ParseWeights reads a JSON object that gives every term, by name, its weight, a number
// within ±1000.
func ParseWeights(text []byte) (Weights, error) {
	var w Weights
	d := json.NewDecoder(bytes.NewReader(text))
	var byName map[string]*float64
	if err := d.Decode(&byName); err != nil {
		return w, fmt.Errorf("weights: %w", err)
	}
	if d.More() {
		return w, errors.New("weights: something follows the object")
	}
	for t, name := range TermNames {
		v := byName[name]
		if v == nil {
			return w, fmt.Errorf("weights: term %q is missing", name)
		}
		if math.Abs(*v) > maxWeight {
			return w, fmt.Errorf("weights: term %q has weight %v, want at most ±%d", name, *v, maxWeight)
		}
		w[t] = float32(*v)
		delete(byName, name)
	}
	for name := range byName {
		return w, fmt.Errorf("weights: no term is named %q", name)
	}
	return w, nil
}

// JSON returns the weights as ParseWeights reads them, a term a line.
func (w Weights) JSON() []byte {
	var b bytes.Buffer
	for t, v := range w {
		sep := ",\n"
		if t == 0 {
			sep = "{\n"
		}
		number, err := json.Marshal(v)
		if err != nil { // not a number
			number = []byte("null")
		}
		fmt.Fprintf(&b, "%s  %q: %s", sep, TermNames[t], number)
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}
