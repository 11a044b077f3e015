package selfplay

import (
	"cmp"
	"fmt"
	"slices"

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
}

// NewValue begins with the net from, or random weights if that is nil, at the sizes and seed of the run or from, and
// its batch by default. saved begins the names of the mean's tensors.
func NewValue(r *Run, c network.Config, saved string, from *mlp.Net) (*Value, error) {
	c.Sizes, c.Seed, c.Batch = r.Options.Sizes(r.Game), r.Options.Seed, cmp.Or(c.Batch, r.Options.Batch)
	c.From = from
	var err error
	if c.Without, err = r.Options.unused(r.Game); err != nil {
		return nil, err
	}
	v := &Value{Rows: rows.Rows{Game: r.Game}, Run: r, saved: saved}
	if v.Trainer, err = network.New(c); err != nil {
		return nil, err
	}
	v.Now, err = v.Trainer.Net()
	v.Mean = v.Now
	return v, err
}

// Gated implements Learner for those who go on after a gate as before.
func (v *Value) Gated() error { return nil }

// Close frees the trainer, after which the Value must not be used.
func (v *Value) Close() error { return v.Trainer.Close() }

// Net returns the mean of the networks so far, which gates evaluate and save.
func (v *Value) Net() *mlp.Net { return v.Mean }

// Learn fits Rows so many times at a learning rate, each time in another order. The loss of the first pass counts.
func (v *Value) Learn(passes int, rate float64) error {
	counts, shuffle := &v.Run.Counts, v.Run.Shuffle()
	for pass := range passes {
		loss, err := v.Rows.Pass(v.Trainer.Fit, shuffle, v.Run.Options.Batch, rate)
		if err != nil {
			return err
		}
		if pass == 0 && v.Rows.Len() > 0 {
			counts.Loss = loss
		}
	}
	return nil
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

// Save implements Learner: the trainer's tensors and steps, and the mean.
func (v *Value) Save(s *State) {
	tensors, steps := v.Trainer.State()
	s.Steps = steps
	s.Add("", tensors)
	s.Add(v.saved, v.Mean.Tensors())
}

// Restore implements Learner. It refuses a mean of other layer sizes.
func (v *Value) Restore(s *State) error {
	if err := v.Trainer.SetState(s.Tensors, s.Steps); err != nil {
		return err
	}
	var err error
	if v.Now, err = v.Trainer.Net(); err != nil {
		return err
	}
	if v.Mean, err = s.Net(v.saved, v.Now.In()); err != nil {
		return err
	}
	if got, want := network.Sizes(v.Mean), network.Sizes(v.Now); !slices.Equal(got, want) {
		return fmt.Errorf("the net %q has layers of sizes %v, want %v", v.saved, got, want)
	}
	return nil
}
