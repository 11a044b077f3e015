package phases

import (
	"cmp"
	"math"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// What the tensors of nets in a state file begin with. Those of the trainer have no prefix.
const (
	netPrefix   = "net."
	basePrefix  = "base."  // of a backup
	stagePrefix = "stage." // of its decisions
)

// A lambdaLearner is a value net in training. Its mean plays.
type lambdaLearner struct {
	*selfplay.Value
	config *Config
}

func (l *lambdaLearner) Rollout() selfplay.Rollout {
	o := l.Run.Options
	return selfplay.Rollout{Kind: lambdaKind, Net: l.Mean, Steps: o.Rounds, Late: o.Late, Versus: l.config.Versus}
}

// Fit implements selfplay.Learner: one pass over the rows of the rollout.
func (l *lambdaLearner) Fit() error {
	l.collect()
	if err := l.Learn(1, l.rate()); err != nil {
		return err
	}
	l.Run.Counts.Rows += l.Rows.Len()
	return l.Fitted(l.Run.Counts.Iterations + 1)
}

// rate falls until the backup begins.
func (l *lambdaLearner) rate() float64 {
	c := l.config
	return fall(c.Rate, c.RateEnd, cmp.Or(c.Results, 1), l.Run.Progress())
}

// fall is a learning rate that falls along half a cosine until a progress.
func fall(from, to, until, progress float64) float64 {
	return to + (from-to)*(1+math.Cos(math.Pi*progress/(until+1e-9)))/2
}

func (l *lambdaLearner) collect() {
	l.Rows.Cut(0)
	n := len(l.Run.Game.Features)
	for _, slot := range l.Run.Slots {
		notes, ok := slot.Notes.(*notes)
		if !ok {
			continue
		}
		for seat := range notes.seats {
			p := &notes.seats[seat]
			for i, y := range l.targets(p) {
				if y == y { // something is known
					l.Rows.X, l.Rows.Y = append(l.Rows.X, p.X[i*n:(i+1)*n]...), append(l.Rows.Y, y)
				}
			}
		}
	}
}

// targets has the mean net evaluate a path's steps, as chances. It returns their λ-returns, NaN for what is not known.
func (l *lambdaLearner) targets(p *afterstate.Path) []float32 {
	p.EvaluateChances(l.Mean)
	targets := make([]float32, len(p.Steps))
	returns(p.Steps, l.config.Lambda, targets)
	return targets
}

// returns writes the λ-returns of a path, given its values, into y, with NaN for what the end of a rollout cut off.
//
// Random choices are like any other: both seats err now and then. Returns that stopped at the agent's errors, but not
// at the opponent's, would make every position look good.
func returns(steps []afterstate.Step, lambda float64, y []float32) {
	ahead := math.NaN() // the return of the next step
	for i := len(steps) - 1; i >= 0; i-- {
		switch {
		case steps[i].Ended:
			ahead = float64(steps[i].Last)
		case i+1 == len(steps):
		case math.IsNaN(ahead):
			ahead = float64(steps[i+1].Value)
		default:
			ahead = (1-lambda)*float64(steps[i+1].Value) + lambda*ahead
		}
		y[i] = float32(ahead)
	}
}

// A lambdaPolicy plays the network's best choice or explores, and notes the positions for the returns.
type lambdaPolicy struct{ policy }

func (p *lambdaPolicy) Begin(s *selfplay.Slot) {
	all, ok := s.Notes.(*notes)
	if !ok {
		all = &notes{features: len(p.Game.Features)}
		s.Notes = all
	}
	for i := range all.seats {
		path := &all.seats[i]
		*path = afterstate.Path{X: path.X[:0], Steps: path.Steps[:0]}
	}
}

// End implements selfplay.Policy. Cut has nothing to do: returns treats what is cut off as unknown.
func (p *lambdaPolicy) End(s *selfplay.Slot) {
	all := s.Notes.(*notes)
	for seat := range all.seats {
		if path := &all.seats[seat]; len(path.Steps) > 0 {
			path.End(p.Game.Chance(s.State, seat))
		}
	}
}

func (p *lambdaPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	if s.Opponent[seat] > 0 {
		return p.opponent(s, seat)
	}
	i := p.Best(s.State, seat)
	if i < 0 {
		return env.None
	}
	if s.Chance(p.config.Explore) {
		i = p.Random(i, &s.Rand)
	}
	if k, own := p.Root.Find(i), p.Game.Own; k >= 0 { // a net is never asked about finished games
		s.Notes.(*notes).seats[seat].Add(afterstate.Step{}, p.Root.X[k*own:(k+1)*own], p.Root.Shared)
	}
	return p.Root.Legal[i]
}

// notes are what the seats that learn saw in one slot's rollout.
type notes struct {
	features int
	// The last choice is rewarded by the result as a chance of winning. Values are chances that the learner sets.
	seats [env.MaxSeats]afterstate.Path
}

const lengthsTensor = "lengths" // the tensor of the lengths of the seats' paths

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
