package selfplay

import (
	"cmp"
	"errors"
	"math/rand/v2"

	"blockyard/agents/mlp"
	"blockyard/train/network"
	"blockyard/train/network/rows"
)

// A Value is a net in training: its trainer and the running mean of its weights.
type Value struct {
	Trainer *network.Trainer
	Rows    rows.Rows // of the current fit
	Now     *mlp.Net  // as of the last fit
	Mean    *mlp.Net  // of Now over the last Options.Mean fits

	// Computed says that the mean of one net is computed like any other, with its rounding.
	Computed bool

	Run   *Run
	saved string // what the mean's tensors in a state begin with; those of the trainer have no prefix
	sizes []int  // of the layers
}

// NewValue begins with the net from, or with random weights if from is nil. The sizes of c are set here: those of from,
// or of the run's nets; so are its seed and, unless it has one, its batch. saved is what the names of the mean's
// tensors begin with in a saved run.
func NewValue(r *Run, c network.Config, saved string, from *mlp.Net) (*Value, error) {
	c.Sizes, c.Seed, c.Batch = r.Options.Sizes(r.Game), r.Options.Seed, cmp.Or(c.Batch, r.Options.Batch)
	if from != nil {
		c.Sizes = network.Sizes(from)
	}
	var err error
	if c.Without, err = r.Options.unused(r.Game); err != nil {
		return nil, err
	}
	t, err := network.New(c)
	if err != nil {
		return nil, err
	}
	v := &Value{Trainer: t, Rows: rows.Rows{Game: r.Game}, Run: r, saved: saved, sizes: c.Sizes}
	if from != nil {
		err = t.SetNet(from)
	}
	if err == nil {
		v.Now, err = t.Net()
	}
	v.Mean = v.Now
	return v, err
}

// Gated implements Learner for those who go on after a gate as before.
func (v *Value) Gated() error { return nil }

// Close frees the trainer.
func (v *Value) Close() error { return v.Trainer.Close() }

// Net is the mean.
func (v *Value) Net() *mlp.Net { return v.Mean }

// Pass fits Rows once, in the order that shuffle gives them, and returns the mean loss.
func (v *Value) Pass(shuffle *rand.Rand, rate float64) (float64, error) {
	return v.Rows.Pass(v.Trainer, shuffle, v.Run.Options.Batch, rate)
}

// Fitted is to be called after the n-th fit. It updates Now and Mean.
func (v *Value) Fitted(n int) (err error) {
	if v.Now, err = v.Trainer.Net(); err != nil {
		return err
	}
	if n = min(n, v.Run.Options.Mean); n == 1 && !v.Computed {
		v.Mean = v.Now
		return nil
	}
	v.Mean, err = Blend(v.Mean, v.Now, 1/float32(n))
	return err
}

// Blend returns a net of which every weight lies a share of the way from before to now.
func Blend(before, now *mlp.Net, share float32) (*mlp.Net, error) {
	between := func(a, b []float32) []float32 {
		out := make([]float32, len(a))
		for i := range a {
			out[i] = a[i] + share*(b[i]-a[i])
		}
		return out
	}
	var layers []mlp.Layer
	for i, l := range now.Layers() {
		b := before.Layers()[i]
		layers = append(layers, mlp.Layer{In: l.In, Out: l.Out, W: between(b.W, l.W), B: between(b.B, l.B)})
	}
	return mlp.New(layers)
}

// Save implements Learner.
func (v *Value) Save(s *State) {
	tensors, steps := v.Trainer.State()
	s.Steps = steps
	s.Add("", tensors)
	s.AddNet(v.saved, v.Mean)
}

// Restore sets what Save added.
func (v *Value) Restore(s *State) error {
	if err := v.Trainer.SetState(s.Tensors, s.Steps); err != nil {
		return err
	}
	var errs [2]error
	v.Now, errs[0] = v.Trainer.Net()
	v.Mean, errs[1] = s.Net(v.saved, v.sizes)
	return errors.Join(errs[:]...)
}
