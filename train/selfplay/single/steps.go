package single

import (
	"errors"

	"blockyard/agents/mlp"
	"blockyard/train/selfplay"
)

// A step is an afterstate that was chosen.
type step struct {
	value  float32 // the net's
	reward float32 // of the choice that led to it
	ended  bool    // the choice after it ended the game, for a reward of last
	last   float32
	cut    bool // nothing is known of what follows
}

// Steps are the afterstates that were chosen in one slot in one rollout.
type steps struct {
	features int
	list     []step
	x        []float32 // [list][features]
	points   int       // before the last choice, or where the last plan ended
}

func (s *steps) add(t step, row []float32) {
	s.list = append(s.list, t)
	s.x = append(s.x, row...)
}

// end closes the last step of a game that has ended.
func (s *steps) end(reward float32) {
	if n := len(s.list); n > 0 && !s.list[n-1].cut && !s.list[n-1].ended {
		s.list[n-1].ended, s.list[n-1].last = true, reward
	}
}

// cut closes the last step if nothing is known of what follows.
func (s *steps) cut() {
	if n := len(s.list); n > 0 && !s.list[n-1].ended {
		s.list[n-1].cut = true
	}
}

// returns writes the λ-return of every step into y, and reports by ok which are known.
func (s *steps) returns(lambda, discount float32, y []float32, ok []bool) {
	for i := len(s.list) - 1; i >= 0; i-- {
		switch t := &s.list[i]; {
		case t.ended:
			y[i], ok[i] = t.last, true
		case t.cut:
			y[i], ok[i] = t.value, false
		default:
			next := &s.list[i+1]
			y[i] = next.reward + discount*((1-lambda)*next.value+lambda*y[i+1])
			ok[i] = true
		}
	}
}

// evaluate has a net evaluate the steps again.
func (s *steps) evaluate(net *mlp.Net, out []float32) []float32 {
	for len(out) < len(s.list) {
		out = append(out, 0)
	}
	net.Forward(s.x, len(s.list), out)
	for i := range s.list {
		s.list[i].value = out[i]
	}
	return out
}

// Tensors of a state file: the features of kept steps, and stepColumns numbers about each.
const (
	keptRows    = "kept.x"
	keptSteps   = "kept.steps"
	keptValues  = "kept.values" // only while a slot is on its way to the learner
	stepColumns = 4             // reward, last, ended, cut
)

// Tensors implements selfplay.Notes.
func (s *steps) Tensors() []mlp.Tensor {
	tensors, _ := pack([]steps{*s}, s.features)
	values := make([]float32, len(s.list))
	for i, t := range s.list {
		values[i] = t.value
	}
	return append(tensors, mlp.Tensor{Name: keptValues, Shape: []int{len(values)}, Data: values})
}

// SetTensors implements selfplay.Notes.
func (s *steps) SetTensors(tensors []mlp.Tensor) error {
	t := selfplay.ByName(tensors)
	n := t.Rows(keptValues)
	values := t.Take(keptValues, n)
	t.Take(keptRows, n, s.features)
	t.Take(keptSteps, n, stepColumns)
	if err := t.Err(); err != nil {
		return err
	}
	all, err := unpack(tensors, []int{n}, s.features)
	if err != nil {
		return err
	}
	s.list, s.x = all[0].list, all[0].x
	for i, v := range values {
		s.list[i].value = v
	}
	return nil
}

// pack turns the steps of slots into tensors and their lengths.
func pack(kept []steps, features int) (tensors []mlp.Tensor, lengths []int) {
	var x, about []float32
	one := map[bool]float32{true: 1}
	for _, s := range kept {
		lengths = append(lengths, len(s.list))
		x = append(x, s.x...)
		for _, t := range s.list {
			about = append(about, t.reward, t.last, one[t.ended], one[t.cut])
		}
	}
	n := len(about) / stepColumns
	return []mlp.Tensor{
		{Name: keptRows, Shape: []int{n, features}, Data: x},
		{Name: keptSteps, Shape: []int{n, stepColumns}, Data: about},
	}, lengths
}

// unpack is the inverse of pack. Values are left out: they are evaluated again.
func unpack(tensors []mlp.Tensor, lengths []int, features int) ([]steps, error) {
	var x, about []float32
	for _, t := range tensors {
		switch t.Name {
		case keptRows:
			x = t.Data
		case keptSteps:
			about = t.Data
		}
	}
	var kept []steps
	for i, n := range lengths {
		if n < 0 || len(about) < n*stepColumns || len(x) < n*features {
			return nil, errors.New("the saved run lacks some of the rollouts that it keeps")
		}
		kept = append(kept, steps{x: x[: n*features : n*features]})
		for x = x[n*features:]; n > 0; n-- {
			t := step{reward: about[0], last: about[1], ended: about[2] != 0, cut: about[3] != 0}
			kept[i].list = append(kept[i].list, t)
			about = about[stepColumns:]
		}
	}
	return kept, nil
}
