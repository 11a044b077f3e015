package selfplay

import (
	"fmt"
	"strings"

	"blockyard/agents/mlp"
)

// The names of a net's tensors in a state file begin with a prefix of its own.
const bestPrefix = "best."

// AddNet adds a net under a prefix.
func (s *State) AddNet(prefix string, n *mlp.Net) { s.add(prefix, n.Tensors()) }

func (s *State) add(prefix string, tensors []mlp.Tensor) {
	for _, t := range tensors {
		t.Name = prefix + t.Name
		s.Tensors = append(s.Tensors, t)
	}
}

// Net reads the net under a prefix, of the given layer sizes; it is nil if there is none.
func (s *State) Net(prefix string, sizes []int) (*mlp.Net, error) {
	found := map[string]mlp.Tensor{}
	for _, t := range s.under(prefix) {
		found[t.Name] = t
	}
	if len(found) == 0 {
		return nil, nil
	}
	n, err := mlp.Assemble(found)
	if err != nil {
		return nil, fmt.Errorf("the net %q: %w", prefix, err)
	}
	layers := n.Layers()
	if len(layers) != len(sizes)-1 {
		return nil, fmt.Errorf("the net %q has %d layers, want sizes %v", prefix, len(layers), sizes)
	}
	for i, l := range layers {
		if l.In != sizes[i] || l.Out != sizes[i+1] {
			return nil, fmt.Errorf("the net %q has a layer %d of %d to %d, want sizes %v", prefix, i, l.In, l.Out, sizes)
		}
	}
	return n, nil
}

// NeedNet is Net, but a missing net is an error.
func (s *State) NeedNet(prefix string, sizes []int) (*mlp.Net, error) {
	n, err := s.Net(prefix, sizes)
	if n == nil && err == nil {
		err = fmt.Errorf("the saved run has no net %q", prefix)
	}
	return n, err
}

// under returns the tensors with a prefix, without it.
func (s *State) under(prefix string) []mlp.Tensor {
	var all []mlp.Tensor
	for _, t := range s.Tensors {
		if name, ok := strings.CutPrefix(t.Name, prefix); ok {
			t.Name = name
			all = append(all, t)
		}
	}
	return all
}
