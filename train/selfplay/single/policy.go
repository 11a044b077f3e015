package single

import (
	"errors"

	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
	"blockyard/train/task"
)

// A policy chooses greedily by a net, or by a planner if the game has one.
type policy struct {
	*afterstate.Search
	learner *learner
	plan    task.Planner // nil if the game has none
	x       []float32    // features of the position in which a plan ends
	plans   uint64
}

func newPolicy(l *learner) *policy {
	g := l.run.Game
	return &policy{Search: afterstate.New(g, l.Now, 1), learner: l, x: make([]float32, len(g.Features))}
}

// TakeVisited implements selfplay.Policy. A plan counts as one evaluation.
func (p *policy) TakeVisited() uint64 {
	n := p.plans
	p.plans = 0
	return n + p.Search.TakeVisited()
}

func (p *policy) Begin(s *selfplay.Slot) { p.learner.steps[s.Index] = steps{} }

func (p *policy) Cut(s *selfplay.Slot) { p.learner.steps[s.Index].cut() }

func (p *policy) End(s *selfplay.Slot) {
	p.learner.steps[s.Index].end(p.reward(s.State.Score(0) - p.learner.points[s.Index]))
}

// reward is the worth of points made by one choice.
func (p *policy) reward(points int) float32 { return float32(p.Game.Solo.Unit * float64(points)) }

// Choose implements selfplay.Policy. It makes one choice and notes the afterstate.
func (p *policy) Choose(s *selfplay.Slot, _ int) env.Action {
	if p.plan != nil {
		return p.follow(s)
	}
	k, reward := p.greedy(s.State)
	p.learner.points[s.Index] = s.State.Score(0)
	if p.Root.Live > 0 && s.Chance(p.learner.run.Options.Explore) {
		k = int(s.Rand.Next() % uint64(p.Root.Live))
		reward = p.reward(p.Root.States[k].Score(0) - s.State.Score(0))
	}
	if k < 0 { // the game ends, whatever is chosen
		return p.Root.Legal[0]
	}
	own := p.Game.Own
	p.learner.steps[s.Index].add(step{value: p.Root.Out[k], reward: reward}, p.Root.X[k*own:(k+1)*own])
	return p.Root.Legal[p.Root.Choice[k]]
}

// greedy returns the live afterstate of the best choice, the first of equals, and the
// choice's reward; -1 if the game ends with every choice.
func (p *policy) greedy(s env.State) (best int, reward float32) {
	p.Evaluate(&p.Root, s, 0)
	best = -1
	discount, most := float32(p.Game.Solo.Discount), float32(0)
	for k, next := range p.Root.States[:p.Root.Live] {
		r := p.reward(next.Score(0) - s.Score(0))
		if w := r + discount*p.Root.Out[k]; best < 0 || w > most {
			best, most, reward = k, w, r
		}
	}
	return best, reward
}

// follow makes the choice that is planned and notes the position in which the plan ends.
func (p *policy) follow(s *selfplay.Slot) env.Action {
	notes, points := &p.learner.steps[s.Index], &p.learner.points[s.Index]
	if s.Chance(p.learner.run.Options.Explore) { // the end of the last plan is out of reach
		notes.cut()
		legal := s.State.Legal(0, nil)
		return legal[s.Rand.Next()%uint64(len(legal))]
	}
	p.plans++
	a, reached, ok := p.plan.Plan(s.State, p.x)
	if ok {
		var value [1]float32
		p.Net.Forward(p.x, 1, value[:])
		notes.add(step{value: value[0], reward: p.reward(reached - *points)}, p.x)
		*points = reached
	}
	if a == env.None {
		return s.State.Legal(0, nil)[0]
	}
	return a
}

// pick returns the choice in s without exploring.
func (p *policy) pick(s env.State) env.Action {
	if p.plan != nil {
		p.plans++
		if a, _, _ := p.plan.Plan(s, p.x); a != env.None {
			return a
		}
	}
	if k, _ := p.greedy(s); k >= 0 {
		return p.Root.Legal[p.Root.Choice[k]]
	}
	return p.Root.Legal[0]
}

// A step is an afterstate that was chosen.
type step struct {
	value  float32 // the net's
	reward float32 // of the choice that led to it
	ended  bool    // the choice after it ended the game, for a reward of last
	last   float32
	cut    bool // nothing is known of what follows
}

// Steps are the afterstates that were chosen in one slot in one rollout.
type steps struct {
	list []step
	x    []float32 // their features
}

func (s *steps) add(t step, row []float32) {
	s.list = append(s.list, t)
	s.x = append(s.x, row...)
}

// end closes the last step of a game that has ended.
func (s *steps) end(reward float32) {
	if n := len(s.list); n > 0 && !s.list[n-1].cut && !s.list[n-1].ended {
		s.list[n-1].ended, s.list[n-1].last = true, reward
	}
}

// cut closes the last step if nothing is known of what follows.
func (s *steps) cut() {
	if n := len(s.list); n > 0 && !s.list[n-1].ended {
		s.list[n-1].cut = true
	}
}

// returns writes the λ-return of every step into y, and reports by ok which are known.
func (s *steps) returns(lambda, discount float32, y []float32, ok []bool) {
	for i := len(s.list) - 1; i >= 0; i-- {
		switch t := &s.list[i]; {
		case t.ended:
			y[i], ok[i] = t.last, true
		case t.cut:
			y[i], ok[i] = t.value, false
		default:
			next := &s.list[i+1]
			y[i] = next.reward + discount*((1-lambda)*next.value+lambda*y[i+1])
			ok[i] = true
		}
	}
}

// evaluate has a net evaluate the steps again.
func (s *steps) evaluate(net *mlp.Net, out []float32) []float32 {
	for len(out) < len(s.list) {
		out = append(out, 0)
	}
	net.Forward(s.x, len(s.list), out)
	for i := range s.list {
		s.list[i].value = out[i]
	}
	return out
}

// Tensors of a state file: the features of kept steps, and stepColumns numbers about each.
const (
	keptRows    = "kept.x"
	keptSteps   = "kept.steps"
	stepColumns = 4 // reward, last, ended, cut
)

// pack turns the steps of slots into tensors and their lengths.
func pack(kept []steps, features int) (tensors []mlp.Tensor, lengths []int) {
	var x, about []float32
	one := map[bool]float32{true: 1}
	for _, s := range kept {
		lengths = append(lengths, len(s.list))
		x = append(x, s.x...)
		for _, t := range s.list {
			about = append(about, t.reward, t.last, one[t.ended], one[t.cut])
		}
	}
	n := len(about) / stepColumns
	return []mlp.Tensor{
		{Name: keptRows, Shape: []int{n, features}, Data: x},
		{Name: keptSteps, Shape: []int{n, stepColumns}, Data: about},
	}, lengths
}

// unpack is the inverse of pack. Values are left out: they are evaluated again.
func unpack(tensors []mlp.Tensor, lengths []int, features int) ([]steps, error) {
	var x, about []float32
	for _, t := range tensors {
		switch t.Name {
		case keptRows:
			x = t.Data
		case keptSteps:
			about = t.Data
		}
	}
	var kept []steps
	for i, n := range lengths {
		if n < 0 || len(about) < n*stepColumns || len(x) < n*features {
			return nil, errors.New("the saved run lacks some of the rollouts that it keeps")
		}
		kept = append(kept, steps{x: x[: n*features : n*features]})
		for x = x[n*features:]; n > 0; n-- {
			t := step{reward: about[0], last: about[1], ended: about[2] != 0, cut: about[3] != 0}
			kept[i].list = append(kept[i].list, t)
			about = about[stepColumns:]
		}
	}
	return kept, nil
}
