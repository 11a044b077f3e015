package phases

import (
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
	"blockyard/train/task"
)

// A lambdaPolicy plays the net's best choice, or the baseline's, and notes it.
type lambdaPolicy struct {
	*afterstate.Search
	*notes
	learner *lambdaLearner
	warm    bool
	worth   func(before, after env.State, seat int) float32 // nil if the game has none
}

func newLambdaPolicy(l *lambdaLearner) *lambdaPolicy {
	p := &lambdaPolicy{Search: afterstate.New(l.run.Game, l.Mean, l.config.DeepWidth), notes: l.notes, learner: l}
	if l.run.Game.Worth != nil {
		p.worth = l.run.Game.Worth()
	}
	return p
}

func (p *lambdaPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	explore := p.learner.run.Options.Explore
	if s.Baseline[seat] {
		return baselineChoice(p.Search, s, seat, explore)
	}
	var i int
	if p.warm {
		i = p.Baseline(s.State, seat)
	} else {
		i = p.Best(s.State, seat)
	}
	if i < 0 {
		return env.None
	}
	if s.Chance(explore) {
		i = p.Random(i, &s.Rand)
	}
	p.note(s, seat, i)
	return p.Root.Legal[i]
}

// baselineChoice is the choice of a seat that the baseline plays against the learner.
func baselineChoice(c *afterstate.Search, s *selfplay.Slot, seat int, explore float64) env.Action {
	i := c.Baseline(s.State, seat)
	if i >= 0 && s.Chance(explore) {
		i = c.Random(i, &s.Rand)
	}
	return c.Action(i)
}

// note notes the choice i and, in a warm start, some of the others.
func (p *lambdaPolicy) note(s *selfplay.Slot, seat, i int) {
	path := p.Append(p.Search, s, seat, i)
	if !p.warm || p.worth == nil {
		return
	}
	if k := p.Root.Find(i); k >= 0 {
		path.Steps[len(path.Steps)-1].worth = p.worth(s.State, p.Root.States[k], seat)
	}
	for range min(p.learner.config.Others, p.Root.Live-1) {
		k := int(s.Rand.Next() % uint64(p.Root.Live))
		path.otherX = p.AppendRow(path.otherX, k, seat)
		path.otherWorth = append(path.otherWorth, p.worth(s.State, p.Root.States[k], seat))
	}
}

// notes are what the seats that learn saw in the current rollout, apart for each slot. They
// are a part of every lambdaPolicy that learns from λ-returns.
type notes struct {
	game  *task.Game
	paths [][env.MaxSeats]seatPath // by slot
}

// A seatPath is what one seat of a slot saw, games one after another: a row of features for
// each choice.
type seatPath struct {
	X     []float32 // [steps][features]
	Steps []step

	otherX     []float32 // [others][features], choices not made
	otherWorth []float32
}

// A step is one row of a path.
type step struct {
	Ended  bool    // this was the seat's last choice of its game
	Result float32 // the game's result as a chance of winning, if Ended
	Value  float32 // the net's chance of winning in this afterstate
	worth  float32 // the baseline evaluator's opinion of it, in a warm start
}

func (n *notes) Begin(s *selfplay.Slot) {
	for i := range n.paths[s.Index] {
		p := &n.paths[s.Index][i]
		*p = seatPath{X: p.X[:0], Steps: p.Steps[:0], otherX: p.otherX[:0], otherWorth: p.otherWorth[:0]}
	}
}

// Append appends the row of the choice i of c.Root to seat's path, which it returns. A
// choice that ends the game has no row: a net is never asked about finished games.
func (n *notes) Append(c *afterstate.Search, s *selfplay.Slot, seat, i int) *seatPath {
	path := &n.paths[s.Index][seat]
	if k := c.Root.Find(i); k >= 0 {
		path.X = c.AppendRow(path.X, k, seat)
		path.Steps = append(path.Steps, step{})
	}
	return path
}

func (n *notes) End(s *selfplay.Slot) {
	for seat := range n.paths[s.Index] {
		p := &n.paths[s.Index][seat]
		if k := len(p.Steps) - 1; k >= 0 && !p.Steps[k].Ended {
			p.Steps[k].Ended, p.Steps[k].Result = true, n.outcome(s.State, seat)
		}
	}
}

// Cut implements selfplay.Policy. returns treats what is cut off as unknown.
func (n *notes) Cut(*selfplay.Slot) {}

// outcome is what seat learns from a finished game, as a chance of winning.
func (n *notes) outcome(s env.State, seat int) float32 {
	if n.game.Chance != nil {
		return n.game.Chance(s, seat)
	}
	return (1 + s.Result(seat)) / 2
}
