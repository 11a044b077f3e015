package weightfile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"blockyard/agents/mlp"
	"blockyard/env"
)

// Nets says which nets a game's player can use, and where the shipped one is.
type Nets struct {
	Files    fs.FS                // what is shipped
	Shipped  string               // the net's place in Files; there may be none
	Features []string             // the inputs, in order
	Fits     func(*mlp.Net) error // refuses a net of another shape
}

// Load reads a net for g from a safetensors file, or the shipped one if path is empty; the
// error then wraps mlp.ErrNotShipped if there is none. Otherwise it says in what a
// file does not fit: other game, rules, features or shape.
func (n Nets) Load(g *env.Game, path string) (*mlp.Net, error) {
	if path == "" {
		return n.loadShipped(g)
	}
	data, err := mlp.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return n.parse(g, path, data)
}

func (n Nets) loadShipped(g *env.Game) (*mlp.Net, error) {
	data, err := fs.ReadFile(n.Files, n.Shipped)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: train some, or name a file", g.Name, mlp.ErrNotShipped)
	}
	if err != nil {
		return nil, err
	}
	return n.parse(g, n.Shipped, data)
}

func (n Nets) parse(g *env.Game, path string, data []byte) (*mlp.Net, error) {
	net, facts, err := mlp.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	game, _, _ := strings.Cut(g.Name, ":") // one net for all variants
	if err := facts.Check(game, g.Rules, n.Features); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := n.Fits(net); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return net, nil
}
