package selfplay

import (
	"fmt"
	"slices"

	"blockyard/agents/mlp"
)

// Named are tensors by name, to be taken apart. The first error stands for all: after it, Take returns
// nothing.
type Named struct {
	tensors map[string]mlp.Tensor
	err     error
}

// ByName returns tensors by name.
func ByName(tensors []mlp.Tensor) *Named {
	n := &Named{tensors: map[string]mlp.Tensor{}}
	for _, t := range tensors {
		n.tensors[t.Name] = t
	}
	return n
}

// Rows returns the length of a tensor's first axis, 0 if there is no such tensor.
func (n *Named) Rows(name string) int {
	if t, ok := n.tensors[name]; ok && len(t.Shape) > 0 {
		return t.Shape[0]
	}
	return 0
}

// Take returns the numbers of a tensor, which must have the given shape. One of no numbers may be
// missing.
func (n *Named) Take(name string, shape ...int) []float32 {
	size := 1
	for _, d := range shape {
		size *= d
	}
	t, ok := n.tensors[name]
	if !ok && size == 0 {
		return nil
	}
	if !slices.Equal(t.Shape, shape) {
		if n.err == nil {
			n.err = fmt.Errorf("the tensor %q has the shape %v, want %v", name, t.Shape, shape)
		}
		return nil
	}
	return t.Data
}

// Err returns the first error.
func (n *Named) Err() error { return n.err }
