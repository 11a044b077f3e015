package mlp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"strconv"
)

var ErrNotShipped = errors.New("no weights shipped") // wrapped by errors about a missing built-in network

// Activation names, in the metadata of a file, what a Net computes between its layers: torch.nn.LeakyReLU(0.01).
const Activation = "leaky_relu 0.01"

// Facts say what a network is for: keys game, rules and features (a JSON list of names) of a file's metadata, beside
// activation, which may be missing. Notes are all other keys.
type Facts struct {
	Game     string
	Rules    int
	Features []string
	Notes    map[string]string
}

// Check returns an error that names the first difference if the network is for another game, for other rules or for
// other features.
func (f Facts) Check(game string, rules int, features []string) error {
	if f.Game != game {
		return fmt.Errorf("weights are for game %q, not %q", f.Game, game)
	}
	if f.Rules != rules {
		return fmt.Errorf("weights are for rules version %d of %s, not %d", f.Rules, game, rules)
	}
	for i := 0; i < len(features) && i < len(f.Features); i++ {
		if features[i] != f.Features[i] {
			return fmt.Errorf("weights have feature %d as %q, %s has %q", i, f.Features[i], game, features[i])
		}
	}
	if len(features) != len(f.Features) {
		return fmt.Errorf("weights have %d features, %s has %d", len(f.Features), game, len(features))
	}
	return nil
}

// Write writes n in the safetensors format with f as metadata. The tensors are fc0.weight [out, in], fc0.bias [out],
// fc1.weight and so on.
func Write(w io.Writer, n *Net, f Facts) error {
	names, err := json.Marshal(f.Features)
	if err != nil {
		return err
	}
	meta := map[string]string{}
	maps.Copy(meta, f.Notes)
	meta["game"], meta["rules"], meta["features"] = f.Game, strconv.Itoa(f.Rules), string(names)
	meta["activation"] = Activation
	return WriteTensors(w, n.Tensors(), meta)
}

// Memory returns the bytes of the weights of n, which its clones share, and those of each clone, with a Fixed.
func (n *Net) Memory() (shared, clone int64) {
	for i, l := range n.layers {
		shared += 4 * int64(len(l.W)+len(l.B)+len(n.packed[i].w)+len(n.packed[i].b))
	}
	for _, h := range n.hidden {
		clone += 4 * int64(len(h))
	}
	wide := int64(n.packed[0].wide+block64-1) &^ (block64 - 1)
	shared += 4 * (1 + multiples) * int64(n.In()) * wide
	clone += 24*wide + 16*int64(n.In())
	return shared, clone
}

// Tensors returns the weights of n under the names they have in a file.
func (n *Net) Tensors() []Tensor {
	var ts []Tensor
	for i, l := range n.layers {
		ts = append(ts,
			Tensor{fmt.Sprintf("fc%d.weight", i), []int{l.Out, l.In}, l.W},
			Tensor{fmt.Sprintf("fc%d.bias", i), []int{l.Out}, l.B})
	}
	return ts
}

// Parse reads a network from the bytes of a safetensors file. It refuses a file with other tensors, without metadata,
// with another activation, or whose number of features differs from its number of inputs.
func Parse(file []byte) (*Net, Facts, error) {
	var f Facts
	var n *Net
	tensors, meta, err := ParseTensors(file)
	if err == nil {
		f, err = facts(meta)
	}
	if err == nil {
		n, err = Assemble(tensors)
	}
	switch {
	case err != nil:
	case len(tensors) > 2*len(n.layers):
		err = fmt.Errorf("weights: %d tensors: want only the %d of the network", len(tensors), 2*len(n.layers))
	case len(f.Features) != n.In():
		err = fmt.Errorf("weights: %d feature names for %d inputs", len(f.Features), n.In())
	}
	if err != nil {
		return nil, Facts{}, err
	}
	return n, f, nil
}

// Assemble makes a network of fc0.weight, fc0.bias and so on. It ignores other tensors.
func Assemble(tensors []Tensor) (*Net, error) {
	byName := map[string]Tensor{}
	for _, t := range tensors {
		byName[t.Name] = t
	}
	var layers []Layer
	for i := 0; ; i++ {
		w, ok := byName[fmt.Sprintf("fc%d.weight", i)]
		if !ok {
			break
		}
		b, ok := byName[fmt.Sprintf("fc%d.bias", i)]
		if !ok {
			return nil, fmt.Errorf("weights: fc%d.bias is missing", i)
		}
		if len(w.Shape) != 2 || len(b.Shape) != 1 || w.Shape[0] != b.Shape[0] {
			return nil, fmt.Errorf("weights: layer %d has weights of shape %v and biases of shape %v: want [out in] and [out]",
				i, w.Shape, b.Shape)
		}
		layers = append(layers, Layer{In: w.Shape[1], Out: w.Shape[0], W: w.Data, B: b.Data})
	}
	if layers == nil {
		return nil, errors.New("weights: no tensor named fc0.weight")
	}
	return New(layers)
}

func facts(meta map[string]string) (Facts, error) {
	f := Facts{Game: meta["game"], Notes: maps.Clone(meta)}
	for _, key := range []string{"game", "rules", "features"} {
		if _, ok := meta[key]; !ok {
			return f, fmt.Errorf("weights: the metadata has no %q", key)
		}
		delete(f.Notes, key)
	}
	if a, ok := meta["activation"]; ok && a != Activation {
		return f, fmt.Errorf("weights: the metadata has activation %.40q, want %q: train with torch.nn.LeakyReLU(0.01) "+
			"between the layers, see rpc/python/docs/contest.md", a, Activation)
	}
	delete(f.Notes, "activation")
	var err error
	if f.Rules, err = strconv.Atoi(meta["rules"]); err != nil {
		return f, fmt.Errorf("weights: rules version %q is not a number", meta["rules"])
	}
	if err := json.Unmarshal([]byte(meta["features"]), &f.Features); err != nil {
		return f, fmt.Errorf("weights: features are not a JSON list of names: %w", err)
	}
	return f, nil
}

// ReadFile is os.ReadFile for regular files that are not larger than weights can be.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile+maxHeader+8 {
		err := fmt.Errorf("not a regular file of at most %d bytes", maxFile)
		return nil, &fs.PathError{Op: "read weights", Path: path, Err: err}
	}
	return os.ReadFile(path)
}
