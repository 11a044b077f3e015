package phases

import (
	"fmt"

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
	seats    [env.MaxSeats]seatPath
}

// A seatPath is what one seat of a slot saw, games one after another: a row of features for each choice.
type seatPath struct {
	X     []float32 // [steps][features]
	Steps []step
}

// A step is one row of a path.
type step struct {
	Ended  bool    // this was the seat's last choice of its game
	Result float32 // the game's result as a chance of winning, if Ended
	Value  float32 // the net's chance of winning in this afterstate
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
		*p = seatPath{X: p.X[:0], Steps: p.Steps[:0]}
	}
}

// Append appends the row of the choice i of c.Root to seat's path. A choice that ends the game has no row: a net is
// never asked about finished games.
func (noter) Append(c *afterstate.Search, s *selfplay.Slot, seat, i int) {
	path := &s.Notes.(*notes).seats[seat]
	if k := c.Root.Find(i); k >= 0 {
		path.X = c.AppendRow(path.X, k, seat)
		path.Steps = append(path.Steps, step{})
	}
}

// End implements selfplay.Policy.
func (n noter) End(s *selfplay.Slot) {
	all := s.Notes.(*notes)
	for seat := range all.seats {
		p := &all.seats[seat]
		if k := len(p.Steps) - 1; k >= 0 && !p.Steps[k].Ended {
			p.Steps[k].Ended, p.Steps[k].Result = true, n.outcome(s.State, seat)
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

// stepColumns are the numbers of a step in a tensor: ended, result. Values are the learner's.
const stepColumns = 2

// Tensors implements selfplay.Notes.
func (n *notes) Tensors() (all []mlp.Tensor) {
	for seat := range n.seats {
		s := &n.seats[seat]
		if len(s.Steps) == 0 {
			continue
		}
		var steps []float32
		for _, t := range s.Steps {
			ended := float32(0)
			if t.Ended {
				ended = 1
			}
			steps = append(steps, ended, t.Result)
		}
		all = append(all,
			mlp.Tensor{Name: seatTensor("x", seat), Shape: []int{len(s.Steps), n.features}, Data: s.X},
			mlp.Tensor{Name: seatTensor("steps", seat), Shape: []int{len(s.Steps), stepColumns}, Data: steps})
	}
	return all
}

// SetTensors implements selfplay.Notes.
func (n *notes) SetTensors(tensors []mlp.Tensor) error {
	all := selfplay.ByName(tensors)
	for seat := range n.seats {
		steps := all.Rows(seatTensor("steps", seat))
		s := seatPath{X: all.Take(seatTensor("x", seat), steps, n.features)}
		for about := all.Take(seatTensor("steps", seat), steps, stepColumns); len(about) > 0; about = about[stepColumns:] {
			s.Steps = append(s.Steps, step{Ended: about[0] != 0, Result: about[1]})
		}
		n.seats[seat] = s
	}
	return all.Err()
}

// seatTensor is the name of a seat's tensor.
func seatTensor(name string, seat int) string { return fmt.Sprintf("%s %d", name, seat) }
