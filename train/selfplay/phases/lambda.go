package phases

import (
	"errors"
	"iter"
	"math"
	"math/rand/v2"

	"blockyard/agents/mlp"
	"blockyard/train/network"
	"blockyard/train/selfplay"
)

// What the tensors of nets in a state file begin with. Those of the trainer of a learner's first net have no prefix.
const (
	netPrefix       = "net."  // of the critic, or of a backup
	basePrefix      = "base." // of a backup
	actorPrefix     = "actor."
	actorMeanPrefix = "actor mean."
)

// A lambdaLearner is a value net in training. Its mean plays.
type lambdaLearner struct {
	*selfplay.Value
	config *Config
	run    *selfplay.Run
	member // of an ensemble
}

// newLambda begins with a net, or with random weights if from is nil.
func newLambda(r *selfplay.Run, c *Config, from *mlp.Net) (*lambdaLearner, error) {
	v, err := selfplay.NewValue(r, network.Config{Batch: c.Batch, Seed: c.Seed}, from)
	return &lambdaLearner{Value: v, config: c, run: r}, err
}

// restoreLambda returns the learner that Save added to a state.
func restoreLambda(r *selfplay.Run, c *Config, s *selfplay.State) (*lambdaLearner, error) {
	mean, err := s.AnyNet(netPrefix, len(r.Game.Features)) // of an ensemble it may have several times the hidden units
	if err != nil {
		return nil, err
	}
	l, err := newLambda(r, c, mean)
	if err != nil {
		return nil, err
	}
	return l, errors.Join(l.member.restore(r, s), l.Restore(s, "", netPrefix, s.Steps))
}

func (l *lambdaLearner) Save(s *selfplay.State) {
	s.Steps = l.Value.Save(s, "", netPrefix)
	l.member.save(s)
}

// warm reports whether the next rollout belongs to the warm start.
func (l *lambdaLearner) warm() bool { return l.run.Progress() < l.config.Warm }

func (l *lambdaLearner) Rollout() selfplay.Rollout {
	return l.rollout(lambdaKind, l.Mean)
}

// rollout is a rollout that a policy of some kind plays by net.
func (l *lambdaLearner) rollout(kind string, net *mlp.Net) selfplay.Rollout {
	o := l.run.Options
	return selfplay.Rollout{
		Kind: kind, Net: net, TwoPly: l.twoPly(), Steps: o.Rounds, Late: o.Late, Versus: l.config.Versus, Baseline: l.warm(),
	}
}

// twoPly reports whether the next rollout searches two plies deep.
func (l *lambdaLearner) twoPly() bool {
	c, p := l.config, l.run.Progress()
	if p < c.Results {
		_, until := c.part(len(l.before))
		return p >= until-c.Deep/float64(c.members())
	}
	return c.Results == 0 && p >= 1-c.Deep
}

func (l *lambdaLearner) Fit() error {
	l.collect(nil)
	return l.fitRows(l.run.Shuffle(), l.rate())
}

// fitRows fits the collected rows once and counts them.
func (l *lambdaLearner) fitRows(shuffle *rand.Rand, rate float64) error {
	counts := &l.run.Counts
	loss, err := l.Pass(shuffle, rate)
	if err != nil {
		return err
	}
	if l.Rows.Len() > 0 {
		counts.Loss = loss
	}
	counts.Rows += l.Rows.Len()
	return l.Fitted(counts.Iterations + 1 - l.since)
}

func (l *lambdaLearner) rate() float64 {
	if l.warm() {
		return l.config.RateWarm
	}
	c, p := l.config, l.run.Progress()
	if p < c.Results {
		since, until := c.part(len(l.before))
		return fall(c.RateFrom, c.RateTo, since, until, p)
	}
	return fall(c.RateFrom, c.RateTo, c.fallFrom(), 1, p)
}

// fall is a learning rate that falls along half a cosine, from one rate at the progress
// since to another at the progress until.
func fall(from, to, since, until, progress float64) float64 {
	return to + (from-to)*(1+math.Cos(math.Pi*(progress-since)/(until-since+1e-9)))/2
}

// collect turns the paths of all slots into rows with targets. visit, if not nil, is
// called for each path with the λ-returns of its steps, NaN where nothing is known.
func (l *lambdaLearner) collect(visit func(p *seatNotes, returns []float32)) {
	l.Rows.Cut(0)
	warm := l.warm() && l.run.Game.Worth != nil
	if warm {
		l.rescale()
	}
	for n := range l.notes() {
		for seat := range n.seats {
			p := &n.seats[seat]
			if len(p.Steps) > 0 {
				targets := l.targets(&p.seatPath)
				if visit != nil {
					visit(p, targets)
				}
				l.add(&p.seatPath, targets, warm)
			}
			l.Rows.X = append(l.Rows.X, p.otherX...)
			for _, w := range p.otherWorth {
				l.Rows.Y = append(l.Rows.Y, l.opinion(w))
			}
		}
	}
}

// notes yields the notes of the slots, in order.
func (l *lambdaLearner) notes() iter.Seq[*notes] {
	return func(yield func(*notes) bool) {
		for _, s := range l.run.Slots {
			if n, ok := s.Notes.(*notes); ok && !yield(n) {
				return
			}
		}
	}
}

// targets has the mean net evaluate a path's steps and returns their λ-returns.
func (l *lambdaLearner) targets(p *seatPath) []float32 {
	values, targets := make([]float32, len(p.Steps)), make([]float32, len(p.Steps))
	l.Mean.Forward(p.X, len(p.Steps), values)
	for i := range p.Steps {
		p.Steps[i].Value = odds(values[i])
	}
	returns(p.Steps, l.config.Lambda, targets)
	return targets
}

// add appends the rows of a path.
func (l *lambdaLearner) add(p *seatPath, targets []float32, warm bool) {
	n, share := len(l.run.Game.Features), float32(l.config.Imitate)
	for i, y := range targets {
		if y != y { // nothing is known
			continue
		}
		if warm {
			y += share * (l.opinion(p.Steps[i].worth) - y)
		}
		l.Rows.X, l.Rows.Y = append(l.Rows.X, p.X[i*n:(i+1)*n]...), append(l.Rows.Y, y)
	}
}

// odds turns log odds into a chance.
func odds(z float32) float32 { return float32(1 / (1 + math.Exp(-float64(z)))) }

// returns writes the λ-return of every step of a path into y, given the steps' values.
// Steps whose successors the end of the rollout cut off get NaN: nothing is known about them.
//
// Random choices are treated like any other. Both seats make them, so that the value is
// that of a game between players who err now and then, even at the start. Returns that
// stopped at the agent's own errors, but not at the opponent's, would make every position look good.
func returns(steps []step, lambda float64, y []float32) {
	ahead := math.NaN() // the return of the next step
	for i := len(steps) - 1; i >= 0; i-- {
		switch {
		case steps[i].Ended:
			ahead = float64(steps[i].Result)
		case i+1 == len(steps):
		case math.IsNaN(ahead):
			ahead = float64(steps[i+1].Value)
		default:
			ahead = (1-lambda)*float64(steps[i+1].Value) + lambda*ahead
		}
		y[i] = float32(ahead)
	}
}

// opinion is the chance of winning that goes with the baseline evaluator's worth.
func (l *lambdaLearner) opinion(worth float32) float32 {
	return odds(worth * float32(l.run.Counts.Scale))
}

// rescale fits Counts.Scale to the results of the games that the baseline played: the most
// likely factor for this rollout, averaged over rollouts.
func (l *lambdaLearner) rescale() {
	counts := &l.run.Counts
	scale := counts.Scale
	for range 8 { // Newton's method on the logistic loss
		slope, bend := 0.0, 1e-9
		for n := range l.notes() {
			for seat := range n.seats {
				slopes(&n.seats[seat].seatPath, scale, &slope, &bend)
			}
		}
		scale -= min(max(slope/bend, -1), 1)
	}
	if scale > 0 && !math.IsInf(scale, 0) {
		counts.Scale += (scale - counts.Scale) / float64(1+min(counts.Iterations, 50))
	}
}

// slopes adds the first and second derivative of the loss by scale over a path's steps whose game has ended.
func slopes(p *seatPath, scale float64, slope, bend *float64) {
	targets := make([]float32, len(p.Steps))
	returns(p.Steps, 1, targets)
	known := false
	for i := len(p.Steps) - 1; i >= 0; i-- {
		known = known || p.Steps[i].Ended
		if !known || targets[i] != targets[i] {
			continue
		}
		w := float64(p.Steps[i].worth)
		q := 1 / (1 + math.Exp(-scale*w))
		*slope += w * (q - float64(targets[i]))
		*bend += w * w * q * (1 - q)
	}
}
