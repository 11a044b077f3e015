package selfplay

import (
	"fmt"
	"slices"
	"strings"

	"blockyard/agents/mlp"
	"blockyard/train/trainer"
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

// Net reads the net under a prefix, of the given layer sizes.
func (s *State) Net(prefix string, sizes []int) (*mlp.Net, error) {
	found := map[string]mlp.Tensor{}
	for _, t := range s.under(prefix) {
		found[t.Name] = t
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the saved run has no net %q", prefix)
	}
	n, err := mlp.Assemble(found)
	if err != nil {
		return nil, fmt.Errorf("the net %q: %w", prefix, err)
	}
	if got := trainer.Sizes(n); !slices.Equal(got, sizes) {
		return nil, fmt.Errorf("the net %q has layers of sizes %v, want %v", prefix, got, sizes)
	}
	return n, nil
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
