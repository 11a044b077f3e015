package phases

import (
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// A noter notes what learning from λ-returns needs. It is a part of every policy that does.
type noter struct{ game *games.Game }

// notes are what the seats that learn saw in one slot's rollout.
type notes struct {
	features int
	// The reward of the choice that ends a game is its result as a chance of winning, and there are no others. Values
	// are chances, too; the learner sets them.
	seats [env.MaxSeats]afterstate.Path
}

// Begin implements selfplay.Policy.
func (n noter) Begin(s *selfplay.Slot) {
	all, ok := s.Notes.(*notes)
	if !ok {
		all = &notes{features: len(n.game.Features)}
		s.Notes = all
	}
	for i := range all.seats {
		p := &all.seats[i]
		*p = afterstate.Path{X: p.X[:0], Steps: p.Steps[:0]}
	}
}

// Append appends the row of the choice i of c.Root to seat's path. A choice that ends the game has no row: a net is
// never asked about finished games.
func (noter) Append(c *afterstate.Search, s *selfplay.Slot, seat, i int) {
	if k, own := c.Root.Find(i), c.Game.Own; k >= 0 {
		s.Notes.(*notes).seats[seat].Add(afterstate.Step{}, c.Root.X[k*own:(k+1)*own], c.Root.Shared)
	}
}

// End implements selfplay.Policy.
func (n noter) End(s *selfplay.Slot) {
	all := s.Notes.(*notes)
	for seat := range all.seats {
		if p := &all.seats[seat]; len(p.Steps) > 0 {
			p.End(n.outcome(s.State, seat))
		}
	}
}

// Cut implements selfplay.Policy. returns treats what is cut off as unknown.
func (noter) Cut(*selfplay.Slot) {}

// outcome is what seat learns from a finished game, as a chance of winning.
func (n noter) outcome(s env.State, seat int) float32 {
	if n.game.Chance != nil {
		return n.game.Chance(s, seat)
	}
	return (1 + s.Result(seat)) / 2
}

// samples are positions two plies deep that were searched further, of one slot's rollout.
type samples struct {
	features int
	x        []float32 // [len(base)][features]
	base     []float32 // the base's value of each
	change   []float32 // what the further search says, less the value
}

// Tensors implements selfplay.Notes.
func (s *samples) Tensors() []mlp.Tensor {
	n := len(s.base)
	return []mlp.Tensor{
		{Name: "x", Shape: []int{n, s.features}, Data: s.x},
		{Name: "base", Shape: []int{n}, Data: s.base},
		{Name: "change", Shape: []int{n}, Data: s.change},
	}
}

// SetTensors implements selfplay.Notes.
func (s *samples) SetTensors(tensors []mlp.Tensor) error {
	t := selfplay.ByName(tensors)
	n := t.Rows("base")
	s.x, s.base, s.change = t.Take("x", n, s.features), t.Take("base", n), t.Take("change", n)
	return t.Err()
}

// lengthsTensor is the tensor of the lengths of the seats' paths.
const lengthsTensor = "lengths"

// Tensors implements selfplay.Notes.
func (n *notes) Tensors() []mlp.Tensor {
	tensors, lengths := afterstate.Pack(n.seats[:], n.features)
	data := make([]float32, len(lengths))
	for seat, steps := range lengths {
		data[seat] = float32(steps)
	}
	return append([]mlp.Tensor{{Name: lengthsTensor, Shape: []int{len(data)}, Data: data}}, tensors...)
}

// SetTensors implements selfplay.Notes.
func (n *notes) SetTensors(tensors []mlp.Tensor) error {
	t := selfplay.ByName(tensors)
	var lengths []int
	for _, v := range t.Take(lengthsTensor, len(n.seats)) {
		lengths = append(lengths, int(v))
	}
	if err := t.Err(); err != nil {
		return err
	}
	paths, err := afterstate.Unpack(tensors, lengths, n.features)
	copy(n.seats[:], paths)
	return err
}
