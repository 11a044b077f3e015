package single

import (
	"blockyard/agents/mlp"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// Steps are the afterstates that were chosen in one slot in one rollout.
type steps struct {
	afterstate.Path
	features int
	points   int // before the last choice, or where the last plan ended
}

// returns writes the λ-return of every step into y, and reports by ok which are known.
func returns(steps []afterstate.Step, lambda, discount float32, y []float32, ok []bool) {
	for i := len(steps) - 1; i >= 0; i-- {
		switch t := &steps[i]; {
		case t.Ended:
			y[i], ok[i] = t.Last, true
		case t.Cut:
			y[i], ok[i] = t.Value, false
		default:
			next := &steps[i+1]
			y[i] = next.Reward + discount*((1-lambda)*next.Value+lambda*y[i+1])
			ok[i] = true
		}
	}
}

// keptValues is the tensor of the values. Those of steps in a state file are computed again.
const keptValues = "kept.values"

// Tensors implements selfplay.Notes.
func (s *steps) Tensors() []mlp.Tensor {
	tensors, _ := afterstate.Pack([]afterstate.Path{s.Path}, s.features)
	values := make([]float32, len(s.Steps))
	for i, t := range s.Steps {
		values[i] = t.Value
	}
	return append(tensors, mlp.Tensor{Name: keptValues, Shape: []int{len(values)}, Data: values})
}

// SetTensors implements selfplay.Notes.
func (s *steps) SetTensors(tensors []mlp.Tensor) error {
	t := selfplay.ByName(tensors)
	n := t.Rows(keptValues)
	values := t.Take(keptValues, n)
	if err := t.Err(); err != nil {
		return err
	}
	all, err := afterstate.Unpack(tensors, []int{n}, s.features)
	if err != nil {
		return err
	}
	s.Path = all[0]
	for i, v := range values {
		s.Steps[i].Value = v
	}
	return nil
}
