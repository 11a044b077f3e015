package trainer

import (
	"fmt"

	"blockyard/agents/mlp"
)

// State returns all that training goes on from: weights and the optimiser's means, as
// tensors, and the optimiser's number of steps.
func (t *Trainer) State() ([]mlp.Tensor, int) {
	var all []mlp.Tensor
	add := func(kind string, data [][]float32) {
		for i, d := range data {
			name := fmt.Sprintf("%s.%d", kind, i)
			all = append(all, mlp.Tensor{Name: name, Shape: []int{len(d)}, Data: append([]float32(nil), d...)})
		}
	}
	add("weights", t.weights)
	add("adam.mean", t.adam.m)
	add("adam.square", t.adam.v)
	return all, t.adam.steps
}

// SetState goes on from a State of a trainer of the same sizes, exactly.
func (t *Trainer) SetState(tensors []mlp.Tensor, steps int) error {
	byName := map[string][]float32{}
	for _, x := range tensors {
		byName[x.Name] = x.Data
	}
	for kind, data := range map[string][][]float32{"weights": t.weights, "adam.mean": t.adam.m, "adam.square": t.adam.v} {
		for i, d := range data {
			name := fmt.Sprintf("%s.%d", kind, i)
			from, ok := byName[name]
			if !ok || len(from) != len(d) {
				return fmt.Errorf("trainer: the state has %d numbers as %s, want %d", len(from), name, len(d))
			}
			copy(d, from)
		}
	}
	t.adam.steps = steps
	return nil
}
