package entry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"blockyard/agents/bots/features"
	"blockyard/agents/mlp"
	"blockyard/env"
)

const MaxWeight = 1000 // the greatest weight, of either sign, that a file may give a term

// A Reader returns the bytes of a file of weights; mlp.ReadFile is one.
type Reader func(path string) ([]byte, error)

// Load reads the weights of a baseline from a JSON file as Parse does, or returns a copy of
// the tuned ones if path is empty.
func (b *Baseline) Load(path string) ([]float32, error) { return b.LoadFrom(mlp.ReadFile, path) }

// LoadFrom is Load with another source of files.
func (b *Baseline) LoadFrom(read Reader, path string) ([]float32, error) {
	if path == "" {
		return slices.Clone(b.Weights), nil
	}
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	w, err := b.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// Parse reads a JSON object that gives each term, by name, its weight: a number within ±MaxWeight.
func (b *Baseline) Parse(text []byte) ([]float32, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	var byName map[string]*float64
	if err := d.Decode(&byName); err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	if d.More() {
		return nil, errors.New("weights: something follows the object")
	}
	weights := make([]float32, len(b.Terms))
	for t, name := range b.Terms {
		v := byName[name]
		if v == nil {
			return nil, fmt.Errorf("weights: term %q is missing", name)
		}
		if math.Abs(*v) > MaxWeight {
			return nil, fmt.Errorf("weights: term %q has weight %v, want at most ±%d", name, *v, MaxWeight)
		}
		weights[t] = float32(*v)
		delete(byName, name)
	}
	for name := range byName {
		return nil, fmt.Errorf("weights: no term is named %q", name)
	}
	return weights, nil
}

// Format writes weights, one for each term, as Parse reads them, one term per line.
func (b *Baseline) Format(weights []float32) []byte {
	lines := make([]string, len(weights))
	for t, v := range weights {
		lines[t] = fmt.Sprintf("  %q: %v", b.Terms[t], v)
	}
	return []byte("{\n" + strings.Join(lines, ",\n") + "\n}\n")
}

// LoadNet reads a network for g from a safetensors file, or the shipped one if path is
// empty; the error then wraps mlp.ErrNotShipped if there is none. Otherwise the error says
// why a file does not fit: another game, rules version, list of features or shape.
func (e *Entry) LoadNet(g *env.Game, path string) (*mlp.Net, error) {
	net, _, err := e.ReadNet(g, mlp.ReadFile, path)
	return net, err
}

// ReadNet is LoadNet with another source of files than this machine's, and returns what the file says about itself.
func (e *Entry) ReadNet(g *env.Game, read Reader, path string) (*mlp.Net, mlp.Facts, error) {
	if e.Learned == nil {
		return nil, mlp.Facts{}, fmt.Errorf("%s: %w: it defines no features", g.Name, mlp.ErrNotShipped)
	}
	var data []byte
	err, shipped := fs.ErrNotExist, path == ""
	if !shipped {
		data, err = read(path)
	} else if path = e.Learned.File; e.Learned.Files != nil {
		data, err = fs.ReadFile(e.Learned.Files, path)
	}
	if shipped && errors.Is(err, fs.ErrNotExist) {
		return nil, mlp.Facts{}, fmt.Errorf("%s: %w: train some, or name a file", g.Name, mlp.ErrNotShipped)
	}
	if err != nil {
		return nil, mlp.Facts{}, err
	}
	net, facts, err := mlp.Parse(data)
	if err == nil {
		err = facts.Check(e.Game, g.Rules, e.Learned.Features.Names)
	}
	if err == nil {
		err = features.Check(net, len(e.Learned.Features.Names))
	}
	if err != nil {
		return nil, facts, fmt.Errorf("%s: %w", path, err)
	}
	return net, facts, nil
}

// Facts returns what a file of weights for g says about itself: the game, the version of its rules, the features by
// name and the notes.
func (e *Entry) Facts(g *env.Game, notes map[string]string) mlp.Facts {
	return mlp.Facts{Game: e.Game, Rules: g.Rules, Features: e.Learned.Features.Names, Notes: notes}
}
