package single

import (
	"errors"

	"blockyard/agents/mlp"
)

// A stretch is the afterstates that were chosen in one slot, one after the other, between two
// fits.
type stretch struct {
	steps []step
	x     []float32 // their features
}

// returns writes the λ-return of every step into y, and reports by ok which are known.
func (s *stretch) returns(lambda, discount float32, y []float32, ok []bool) {
	for i := len(s.steps) - 1; i >= 0; i-- {
		switch t := &s.steps[i]; {
		case t.ended:
			y[i], ok[i] = t.last, true
		case t.cut:
			y[i], ok[i] = t.value, false
		default:
			next := &s.steps[i+1]
			y[i] = next.reward + discount*((1-lambda)*next.value+lambda*y[i+1])
			ok[i] = true
		}
	}
}

// judge has a net say again what it makes of the steps.
func (s *stretch) judge(net *mlp.Net, out []float32) []float32 {
	for len(out) < len(s.steps) {
		out = append(out, 0)
	}
	net.Forward(s.x, len(s.steps), out)
	for i := range s.steps {
		s.steps[i].value = out[i]
	}
	return out
}

// Tensors of a state file: the features of kept steps, and what stepColumns tell of each.
const (
	keptRows    = "kept.x"
	keptSteps   = "kept.steps"
	stepColumns = 4 // reward, last, ended, cut
)

// packed turns stretches into tensors and their lengths.
func packed(kept []stretch, features int) (tensors []mlp.Tensor, lengths []int) {
	var x, about []float32
	for _, s := range kept {
		lengths = append(lengths, len(s.steps))
		x = append(x, s.x...)
		for _, t := range s.steps {
			about = append(about, t.reward, t.last, number(t.ended), number(t.cut))
		}
	}
	n := len(about) / stepColumns
	return []mlp.Tensor{{Name: keptRows, Shape: []int{n, features}, Data: x}, {Name: keptSteps, Shape: []int{n, stepColumns}, Data: about}}, lengths
}

// unpacked is packed backwards; values are left out, for a net to say again.
func unpacked(tensors []mlp.Tensor, lengths []int, features int) ([]stretch, error) {
	if len(lengths) == 0 {
		return nil, nil
	}
	var x, about []float32
	for _, t := range tensors {
		switch t.Name {
		case keptRows:
			x = t.Data
		case keptSteps:
			about = t.Data
		}
	}
	var kept []stretch
	for _, n := range lengths {
		if n < 0 || len(about) < n*stepColumns || len(x) < n*features {
			return nil, errors.New("the kept stretches are not whole")
		}
		s := stretch{x: x[: n*features : n*features]}
		for ; n > 0; n-- {
			s.steps = append(s.steps, step{reward: about[0], last: about[1], ended: about[2] != 0, cut: about[3] != 0})
			about = about[stepColumns:]
		}
		kept, x = append(kept, s), x[len(s.x):]
	}
	return kept, nil
}

func number(on bool) float32 {
	if on {
		return 1
	}
	return 0
}
