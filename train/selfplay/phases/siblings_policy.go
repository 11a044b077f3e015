package phases

import (
	"cmp"
	"math"
	"slices"

	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/selfplay"
	"blockyard/train/selfplay/afterstate"
)

const (
	clampTo = 4   // how far a value may be from the mean of its decision in a target
	near    = 120 // how many of the best pairs some siblings are drawn from
	noted   = 0.5 // share of the decisions that are learned from: the next one is much like the last
)

// A siblingPolicy plays two plies deep and notes decisions. The siblings of one are pairs of actions in a row: the best
// pair of each of the best first actions, the next best pairs of all, and some at random.
type siblingPolicy struct {
	policy                             // its search is that of opponents
	eval          search.LeafEvaluator // values the ends of pairs without making them
	states        []env.State          // the positions after the first actions
	first, second []env.Action
	pairs         []pair
	chosen        []pair
	values        []float32
	rest          []int
	after         env.State
	draw          [env.MaxDraws]uint16
	visited       uint64
}

// A pair is two actions in a row and the net's value of what they lead to.
type pair struct {
	at     int // of the first action among those that do not end the game
	taken  bool
	action [2]env.Action
	value  float32
}

// Start implements selfplay.Policy. A net that fits once fits again: all have the same layers at their ends.
func (p *siblingPolicy) Start(ro *selfplay.Rollout) {
	if e, err := p.Game.Evaluator(ro.Net); err == nil {
		p.eval = e.(search.LeafEvaluator)
	}
}

func (p *siblingPolicy) Begin(s *selfplay.Slot) {
	s.Notes = &decisions{game: p.Game, siblings: p.config.Samples}
}

func (p *siblingPolicy) TakeVisited() uint64 {
	n := p.visited + p.Search.TakeVisited()
	p.visited = 0
	return n
}

// Choose implements selfplay.Policy: the first action of the best pair.
func (p *siblingPolicy) Choose(s *selfplay.Slot, seat int) env.Action {
	if s.Opponent[seat] > 0 {
		return p.opponent(s, seat)
	}
	p.list(s.State, seat)
	if len(p.first) == 0 {
		return env.None
	}
	if s.Chance(noted) && len(p.pairs) >= p.config.Samples {
		p.note(s, seat)
	}
	if s.Chance(p.config.Explore) || len(p.pairs) == 0 {
		return p.first[s.Rand.Next()%uint64(len(p.first))]
	}
	return p.pairs[0].action[0]
}

// list sets first, and the pairs of actions that leave the game unfinished, the best first.
func (p *siblingPolicy) list(s env.State, seat int) {
	p.first, p.pairs = s.Legal(seat, p.first[:0]), p.pairs[:0]
	live := 0
	for _, a := range p.first {
		if live == len(p.states) {
			p.states = append(p.states, p.Game.Rules.New(p.Game.Rules.MinSeats))
		}
		next := p.states[live]
		next.CopyFrom(s)
		next.Force(noDraws[:])
		env.After(next, seat, a)
		if !next.Acting().Has(seat) {
			continue
		}
		p.evaluate(next, seat)
		for i, b := range p.second {
			if v := p.values[i]; v == v {
				p.pairs = append(p.pairs, pair{at: live, action: [2]env.Action{a, b}, value: v})
			}
		}
		live++
	}
	slices.SortFunc(p.pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.at, b.at), cmp.Compare(a.action[1], b.action[1]))
	})
}

// evaluate values seat's actions in s, second: the values of those that end the game are NaN. It forces the draws of s.
func (p *siblingPolicy) evaluate(s env.State, seat int) {
	s.Force(noDraws[:])
	p.second = s.Legal(seat, p.second[:0])
	if n := len(p.second); len(p.values) < n {
		p.values = make([]float32, 2*n)
	}
	p.rest = p.eval.EvaluateLeaves(s, seat, p.second, p.values, p.rest[:0])
	for _, i := range p.rest {
		p.values[i] = float32(math.NaN())
	}
	p.visited += uint64(len(p.second))
}

// best is the greatest value of seat's actions in s, -Certain if all end the game.
func (p *siblingPolicy) best(s env.State, seat int) float32 {
	if !s.Acting().Has(seat) {
		return afterstate.Certain * s.Result(seat)
	}
	p.evaluate(s, seat)
	best := float32(-afterstate.Certain)
	for _, v := range p.values[:len(p.second)] {
		if v > best {
			best = v
		}
	}
	return best
}

// choose sets chosen to the siblings, k of at least as many pairs.
func (p *siblingPolicy) choose(r *env.Rand, k int) {
	p.chosen = p.chosen[:0]
	take := func(i int) {
		if x := &p.pairs[i]; !x.taken {
			x.taken = true
			p.chosen = append(p.chosen, *x)
		}
	}
	for i, x := range p.pairs {
		if len(p.chosen) == k/3 {
			break
		}
		if !slices.ContainsFunc(p.chosen, func(c pair) bool { return c.at == x.at }) {
			take(i)
		}
	}
	for i := 0; len(p.chosen) < 2*k/3; i++ {
		take(i)
	}
	for n := 0; n < 8*k && len(p.chosen) < 5*k/6; n++ {
		take(int(r.Next() % uint64(min(near, len(p.pairs)))))
	}
	for len(p.chosen) < k {
		take(int(r.Next() % uint64(len(p.pairs))))
	}
}

// note chooses siblings and notes the decision. Their targets are what a ply more finds: the value after the best third
// action, the mean over all outcomes of the draw before it, less the mean of the siblings.
func (p *siblingPolicy) note(s *selfplay.Slot, seat int) {
	k, outcomes := p.config.Samples, p.Game.Outcomes
	p.choose(&s.Rand, k)
	position, err := env.Encode(nil, s.State)
	if err != nil { // a state of a fixed size always is encoded
		return
	}
	d := decision{position: position, seat: seat, targets: make([]float32, k)}
	deep, mean, known := make([]float32, 0, k*outcomes), 0., 0
	for _, x := range p.chosen {
		d.pairs = append(d.pairs, x.action)
		for o := range outcomes {
			p.draw[0] = uint16(o)
			p.after.CopyFrom(s.State)
			p.after.Force(p.draw[:])
			env.After(p.after, seat, x.action[0])
			p.after.Force(noDraws[:])
			env.After(p.after, seat, x.action[1])
			v := p.best(p.after, seat)
			if deep = append(deep, v); math.Abs(float64(v)) < afterstate.Certain {
				mean += float64(v)
				known++
			}
		}
	}
	middle := float32(mean / float64(max(1, known)))
	for i := range d.targets {
		for _, v := range deep[i*outcomes : (i+1)*outcomes] {
			d.targets[i] += min(max(v-middle, -clampTo), clampTo) / float32(outcomes)
		}
	}
	center(d.targets)
	notes := s.Notes.(*decisions)
	notes.list = append(notes.list, d)
}

func center(values []float32) {
	sum := float32(0)
	for _, v := range values {
		sum += v
	}
	for i := range values {
		values[i] -= sum / float32(len(values))
	}
}
