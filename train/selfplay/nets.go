package selfplay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"blockyard/agents/mlp"
)

// Nets in a state file are told apart by what their tensors' names begin with.
const (
	bestPrefix  = "best."
	netPrefix   = "net."
	basePrefix  = "base."
	actorPrefix = "actor."
	meanPrefix  = "actor mean."
)

func prefixed(all []mlp.Tensor, prefix string) []mlp.Tensor {
	for i := range all {
		all[i].Name = prefix + all[i].Name
	}
	return all
}

// net reads the net whose tensors' names begin with prefix, of the shape of like; it is
// nil if there is none.
func net(tensors []mlp.Tensor, prefix string, like *mlp.Net) (*mlp.Net, error) {
	found := map[string]mlp.Tensor{}
	for _, t := range tensors {
		if name, ok := strings.CutPrefix(t.Name, prefix); ok {
			found[name] = t
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	n, err := mlp.Assemble(found)
	if err != nil {
		return nil, err
	}
	want := like.Tensors()
	for i, t := range n.Tensors() {
		if i >= len(want) || !slices.Equal(t.Shape, want[i].Shape) {
			return nil, fmt.Errorf("%s%s has shape %v, which does not fit", prefix, t.Name, t.Shape)
		}
	}
	return n, nil
}

// goBack goes on with a saved backup, or after one.
func (r *Run) goBack(s *savedBackup, tensors []mlp.Tensor) error {
	if s == nil {
		if r.backup == nil {
			return nil
		}
		return r.settle()
	}
	base, err := net(tensors, basePrefix, r.net)
	if err != nil {
		return err
	}
	if base == nil || r.backup == nil {
		return errors.New("a backup without weights, or in a run without one")
	}
	r.backup = &backup{base: base, drift: s.Drift, fits: s.Fits}
	return nil
}

// rehire goes on with a saved actor.
func (r *Run) rehire(s *savedActor, tensors []mlp.Tensor) error {
	m, err := net(tensors, meanPrefix, r.net)
	if err != nil {
		return err
	}
	if m == nil || r.Config.Actor == 0 {
		return errors.New("an actor without weights, or in a run without one")
	}
	var own []mlp.Tensor
	for _, t := range tensors {
		if name, ok := strings.CutPrefix(t.Name, actorPrefix); ok {
			t.Name = name
			own = append(own, t)
		}
	}
	if err := r.hire(m); err != nil {
		return err
	}
	if err := r.actor.trainer.SetState(own, s.Steps); err != nil {
		return fmt.Errorf("the actor: %w", err)
	}
	r.actor.fits = s.Fits
	r.actor.net, err = r.actor.trainer.Net()
	return err
}
