package afterstate

import (
	"fmt"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
)

// A Path is the afterstates that one seat chose in a rollout, games one after another.
type Path struct {
	X     []float32 // [Steps][features]
	Steps []Step
}

// A Step is an afterstate that was chosen.
type Step struct {
	Value  float32 // the net's
	Reward float32 // of the choice that led to it
	Ended  bool    // the game ended before the seat's next step
	Last   float32 // if Ended: the return of this step
	Cut    bool    // nothing is known of what follows
}

// Add appends a step and the parts of its row of features.
func (p *Path) Add(s Step, row ...[]float32) {
	p.Steps = append(p.Steps, s)
	for _, part := range row {
		p.X = append(p.X, part...)
	}
}

// End marks the last step as Ended with a reward, unless it is Cut or Ended already.
func (p *Path) End(reward float32) {
	if n := len(p.Steps); n > 0 && !p.Steps[n-1].Cut && !p.Steps[n-1].Ended {
		p.Steps[n-1].Ended, p.Steps[n-1].Last = true, reward
	}
}

// Cut marks the last step as Cut, unless it is Ended.
func (p *Path) Cut() {
	if n := len(p.Steps); n > 0 && !p.Steps[n-1].Ended {
		p.Steps[n-1].Cut = true
	}
}

// Evaluate sets the values to those of a net.
func (p *Path) Evaluate(net *mlp.Net) {
	out := make([]float32, len(p.Steps))
	net.Forward(p.X, len(p.Steps), out)
	for i, v := range out {
		p.Steps[i].Value = v
	}
}

// EvaluateChances sets the values to the chances of which a net gives the log odds.
func (p *Path) EvaluateChances(net *mlp.Net) {
	p.Evaluate(net)
	for i := range p.Steps {
		p.Steps[i].Value = float32(search.Chance(p.Steps[i].Value))
	}
}

// The tensors of paths: the features of their steps, and stepColumns numbers about each.
const (
	rowsTensor  = "kept.x"
	stepsTensor = "kept.steps"
	stepColumns = 4 // reward, last, ended, cut
)

// Pack turns paths into tensors of all their steps, and the number of steps of each. Values are left out.
func Pack(paths []Path, features int) (tensors []mlp.Tensor, lengths []int) {
	var x, about []float32
	one := map[bool]float32{true: 1}
	for _, p := range paths {
		lengths = append(lengths, len(p.Steps))
		x = append(x, p.X...)
		for _, s := range p.Steps {
			about = append(about, s.Reward, s.Last, one[s.Ended], one[s.Cut])
		}
	}
	n := len(about) / stepColumns
	return []mlp.Tensor{
		{Name: rowsTensor, Shape: []int{n, features}, Data: x},
		{Name: stepsTensor, Shape: []int{n, stepColumns}, Data: about},
	}, lengths
}

// Unpack returns the paths that Pack wrote. It returns an error for tensors and lengths that do not fit each other.
func Unpack(tensors []mlp.Tensor, lengths []int, features int) ([]Path, error) {
	var x, about []float32
	for _, t := range tensors {
		switch t.Name {
		case rowsTensor:
			x = t.Data
		case stepsTensor:
			about = t.Data
		}
	}
	all, paths := len(about)/stepColumns, make([]Path, len(lengths))
	for i, n := range lengths {
		if n < 0 || n > len(about)/stepColumns || n*features > len(x) {
			return nil, fmt.Errorf("tensors of %d steps, path %d alone has %d of what is left", all, i, n)
		}
		paths[i].X, x = x[:n*features:n*features], x[n*features:]
		for ; n > 0; n-- {
			paths[i].Steps = append(paths[i].Steps,
				Step{Reward: about[0], Last: about[1], Ended: about[2] != 0, Cut: about[3] != 0})
			about = about[stepColumns:]
		}
	}
	if len(about)+len(x) > 0 {
		return nil, fmt.Errorf("tensors of %d steps, more than those of %d paths", all, len(lengths))
	}
	return paths, nil
}
