package entry

import (
	"errors"
	"fmt"
	"io/fs"

	"blockyard/agents/features"
	"blockyard/agents/mlp"
	"blockyard/env"
)

// LoadNet reads a network for g from a safetensors file, or the shipped one if path is
// empty; the error then wraps mlp.ErrNotShipped if there is none. Otherwise the error says
// why a file does not fit: another game, rules version, list of features or shape.
func (e *Entry) LoadNet(g *env.Game, path string) (*mlp.Net, error) {
	if e.Learned == nil {
		return nil, fmt.Errorf("%s: %w: it defines no features", g.Name, mlp.ErrNotShipped)
	}
	var data []byte
	err, shipped := fs.ErrNotExist, path == ""
	if !shipped {
		data, err = mlp.ReadFile(path)
	} else if path = e.Learned.File; e.Learned.Files != nil {
		data, err = fs.ReadFile(e.Learned.Files, path)
	}
	if shipped && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: train some, or name a file", g.Name, mlp.ErrNotShipped)
	}
	if err != nil {
		return nil, err
	}
	net, facts, err := mlp.Parse(data)
	if err == nil {
		err = facts.Check(e.Game, g.Rules, e.Learned.Features.Names)
	}
	if err == nil {
		err = features.Check(net, len(e.Learned.Features.Names))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return net, nil
}

// Facts returns what a file of weights for g says about itself.
func (e *Entry) Facts(g *env.Game, notes map[string]string) mlp.Facts {
	return mlp.Facts{Game: e.Game, Rules: g.Rules, Features: e.Learned.Features.Names, Notes: notes}
}
