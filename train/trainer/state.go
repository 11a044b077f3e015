package trainer

import (
	"fmt"
	"slices"

	"blockyard/agents/mlp"
)

// tensors are the weights and the optimiser's means, in the trainer's own memory.
func (t *Trainer) tensors() (all []mlp.Tensor) {
	for k, data := range [][][]float32{t.weights, t.adam.m, t.adam.v} {
		kind := []string{"weights", "adam.mean", "adam.square"}[k]
		for i, d := range data {
			all = append(all, mlp.Tensor{Name: fmt.Sprintf("%s.%d", kind, i), Shape: []int{len(d)}, Data: d})
		}
	}
	return all
}

// State returns all that training goes on from: weights and the optimiser's means, as
// tensors, and the optimiser's number of steps.
func (t *Trainer) State() ([]mlp.Tensor, int) {
	all := t.tensors()
	for i := range all {
		all[i].Data = slices.Clone(all[i].Data)
	}
	return all, t.adam.steps
}

// SetState goes on from a State of a trainer of the same sizes, exactly.
func (t *Trainer) SetState(tensors []mlp.Tensor, steps int) error {
	byName := map[string][]float32{}
	for _, x := range tensors {
		byName[x.Name] = x.Data
	}
	for _, x := range t.tensors() {
		from := byName[x.Name]
		if len(from) != len(x.Data) {
			return fmt.Errorf("trainer: the state has %d numbers as %s, want %d", len(from), x.Name, len(x.Data))
		}
		copy(x.Data, from)
	}
	t.adam.steps = steps
	return nil
}
