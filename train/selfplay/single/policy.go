package single

import (
	"context"
	"fmt"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/games"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

// A policy chooses greedily by a net, or by a planner if the game has one.
type policy struct {
	*afterstate.Search
	config *Config
	plan   games.Plan // nil if the game has none
	x      []float32  // features of the position in which a plan ends
	plans  uint64
}

const kind = "single" // the only kind of policy

// Policy implements selfplay.Algorithm, for the one kind of rollout there is.
func (c *Config) Policy(g *games.Game, ro *selfplay.Rollout) (selfplay.Policy, error) {
	if ro.Kind != kind {
		return nil, fmt.Errorf("no policy of kind %q: want %s", ro.Kind, kind)
	}
	return c.newPolicy(g, ro), nil
}

func (c *Config) newPolicy(g *games.Game, ro *selfplay.Rollout) *policy {
	return &policy{Search: afterstate.New(g, ro.Net, 1), config: c, x: make([]float32, len(g.Features))}
}

// Start implements selfplay.Policy. If the game has a planner, it plans by the net, or by the baseline evaluator.
func (p *policy) Start(ro *selfplay.Rollout) {
	p.Net = ro.Net.Clone()
	if planner := p.Game.Solo.Planner; planner != nil {
		net := ro.Net.Clone()
		if ro.Baseline {
			net = nil
		}
		p.plan = planner(net, p.config.DeepWidth)
	}
}

// TakeVisited implements selfplay.Policy. A plan counts as one evaluation.
func (p *policy) TakeVisited() uint64 {
	n := p.plans
	p.plans = 0
	return n + p.Search.TakeVisited()
}

func (p *policy) Begin(s *selfplay.Slot) { s.Notes = &steps{features: len(p.Game.Features)} }
func (p *policy) Cut(s *selfplay.Slot)   { s.Notes.(*steps).Cut() }

func (p *policy) End(s *selfplay.Slot) {
	notes := s.Notes.(*steps)
	if p.Game.Solo.Survival != "" {
		notes.End(0)
		return
	}
	notes.End(p.reward(s.State.Score(0) - notes.points))
}

// reward is the worth of points made by one choice, after which the game goes on. Where survival counts, it is the same
// for each, such that a game without an end has the value 1.
func (p *policy) reward(points int) float32 {
	if p.Game.Solo.Survival != "" {
		return float32(1 - p.config.discount(p.Game))
	}
	return float32(p.Game.Solo.Unit * float64(points))
}

// worth is the value that an output of the network stands for.
func worth(g *games.Game, out float32) float32 {
	if g.Solo.Survival != "" {
		return float32(search.Chance(out))
	}
	return out
}

// Choose implements selfplay.Policy. It makes one choice and notes the afterstate.
func (p *policy) Choose(s *selfplay.Slot, _ int) env.Action {
	if p.plan != nil {
		return p.follow(s)
	}
	k, reward := p.greedy(s.State)
	notes := s.Notes.(*steps)
	notes.points = s.State.Score(0)
	if p.Root.Live > 0 && s.Chance(p.config.Explore) {
		k = int(s.Rand.Next() % uint64(p.Root.Live))
		reward = p.reward(p.Root.States[k].Score(0) - s.State.Score(0))
	}
	if k < 0 { // the game ends, whatever is chosen
		return p.Root.Legal[0]
	}
	own := p.Game.Own
	notes.Add(afterstate.Step{Value: worth(p.Game, p.Root.Out[k]), Reward: reward}, p.Root.X[k*own:(k+1)*own])
	return p.Root.Legal[p.Root.Choice[k]]
}

// greedy returns the live afterstate of the best choice and its reward; -1 if every choice ends the game.
func (p *policy) greedy(s env.State) (best int, reward float32) {
	p.Evaluate(&p.Root, s, 0)
	best = -1
	discount, most := float32(p.config.discount(p.Game)), float32(0)
	for k, next := range p.Root.States[:p.Root.Live] {
		r := p.reward(next.Score(0) - s.Score(0))
		if w := r + discount*worth(p.Game, p.Root.Out[k]); best < 0 || w > most {
			best, most, reward = k, w, r
		}
	}
	return best, reward
}

// follow makes the choice that is planned and notes the position in which the plan ends.
func (p *policy) follow(s *selfplay.Slot) env.Action {
	notes := s.Notes.(*steps)
	if s.Chance(p.config.Explore) { // the end of the last plan is out of reach
		notes.Cut()
		legal := s.State.Legal(0, nil)
		return legal[s.Rand.Next()%uint64(len(legal))]
	}
	p.plans++
	a, reached, ok := p.plan(s.State, p.x)
	if ok {
		var value [1]float32
		p.Net.Forward(p.x, 1, value[:])
		notes.Add(afterstate.Step{Value: value[0], Reward: p.reward(reached - notes.points)}, p.x)
		notes.points = reached
	}
	if a == env.None {
		return s.State.Legal(0, nil)[0]
	}
	return a
}

// Act implements env.Agent. It returns the choice in s without exploring.
func (p *policy) Act(_ context.Context, s env.State, _ int) (env.Action, error) {
	if p.plan != nil {
		p.plans++
		if a, _, _ := p.plan(s, p.x); a != env.None {
			return a, nil
		}
	}
	if k, _ := p.greedy(s); k >= 0 {
		return p.Root.Legal[p.Root.Choice[k]], nil
	}
	return p.Root.Legal[0], nil
}

// Steps are the afterstates that were chosen in one slot in one rollout.
type steps struct {
	afterstate.Path
	features int
	points   int // before the last choice, or where the last plan ended
}

// returns writes the λ-return of every step into y, and reports by ok which are known.
func returns(steps []afterstate.Step, lambda, discount float32, y []float32, ok []bool) {
	for i := len(steps) - 1; i >= 0; i-- {
		switch t := &steps[i]; {
		case t.Ended:
			y[i], ok[i] = t.Last, true
		case t.Cut:
			y[i], ok[i] = t.Value, false
		default:
			next := &steps[i+1]
			y[i] = next.Reward + discount*((1-lambda)*next.Value+lambda*y[i+1])
			ok[i] = true
		}
	}
}

// keptValues is the tensor of the values. Those of steps in a state file are computed again.
const keptValues = "kept.values"

func (s *steps) Tensors() []mlp.Tensor {
	tensors, _ := afterstate.Pack([]afterstate.Path{s.Path}, s.features)
	values := make([]float32, len(s.Steps))
	for i, t := range s.Steps {
		values[i] = t.Value
	}
	return append(tensors, mlp.Tensor{Name: keptValues, Shape: []int{len(values)}, Data: values})
}

func (s *steps) SetTensors(tensors []mlp.Tensor) error {
	t := selfplay.Named{Tensors: tensors}
	values := t.Take(keptValues, -1)
	if t.Err != nil {
		return t.Err
	}
	all, err := afterstate.Unpack(tensors, []int{len(values)}, s.features)
	if err != nil {
		return err
	}
	s.Path = all[0]
	for i, v := range values {
		s.Steps[i].Value = v
	}
	return nil
}
