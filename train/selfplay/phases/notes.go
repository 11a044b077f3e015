package phases

import (
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// notes are what the seats that learn saw in one slot's rollout.
type notes struct {
	features int
	// The reward of the choice that ends a game is its result as a chance of winning, and there are no others. Values
	// are chances, too; the learner sets them.
	seats [env.MaxSeats]afterstate.Path
}

// samples are positions two plies deep that were searched further, of one slot's rollout.
type samples struct {
	features int
	x        []float32 // [len(base)][features]
	base     []float32 // the base's value of each
	change   []float32 // what the further search says, less the value
}

func (s *samples) Tensors() []mlp.Tensor {
	n := len(s.base)
	return []mlp.Tensor{
		{Name: "x", Shape: []int{n, s.features}, Data: s.x},
		{Name: "base", Shape: []int{n}, Data: s.base},
		{Name: "change", Shape: []int{n}, Data: s.change},
	}
}

func (s *samples) SetTensors(tensors []mlp.Tensor) error {
	t := selfplay.Named{Tensors: tensors}
	s.base = t.Take("base", -1)
	s.x, s.change = t.Take("x", len(s.base), s.features), t.Take("change", len(s.base))
	return t.Err
}

// lengthsTensor is the tensor of the lengths of the seats' paths.
const lengthsTensor = "lengths"

func (n *notes) Tensors() []mlp.Tensor {
	tensors, lengths := afterstate.Pack(n.seats[:], n.features)
	data := make([]float32, len(lengths))
	for seat, steps := range lengths {
		data[seat] = float32(steps)
	}
	return append([]mlp.Tensor{{Name: lengthsTensor, Shape: []int{len(data)}, Data: data}}, tensors...)
}

func (n *notes) SetTensors(tensors []mlp.Tensor) error {
	t := selfplay.Named{Tensors: tensors}
	var lengths []int
	for _, v := range t.Take(lengthsTensor, len(n.seats)) {
		lengths = append(lengths, int(v))
	}
	if t.Err != nil {
		return t.Err
	}
	paths, err := afterstate.Unpack(tensors, lengths, n.features)
	copy(n.seats[:], paths)
	return err
}
