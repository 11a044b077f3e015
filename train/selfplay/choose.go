package selfplay

import (
	"math"

	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/train/task"
)

// certain is the worth of a finished game, beyond any the net gives.
const certain = 1e6

// A level holds the afterstates of one decision. Those of finished games have their
// worth in worth and are left out of states.
type level struct {
	legal  []env.Action
	worth  []float32   // per legal action
	states []env.State // the first live of them are afterstates to be judged
	slot   []int       // and belong to these actions
	live   int
	x      []float32 // [live][own] features
	out    []float32 // [live] values
	shared []float32
	acc    []float32
}

// A chooser chooses for one worker.
type chooser struct {
	game    *task.Game
	net     *mlp.Net
	reader  task.Reader
	hand    search.Evaluator
	root    level
	leaf    level
	last    level                                           // third choices
	final   level                                           // and what may follow them
	third   env.State                                       // where they are made
	drawn   [1]uint16                                       // what is drawn there
	worth   func(before, after env.State, seat int) float32 // nil if the game has none
	order   []int
	deep    bool
	width   int
	prefs   []float32   // options of a drawn choice: preferences
	picks   []int       // and which of root's live afterstates each leads to first
	optionX [][]float32 // their features, where deep
	sums    []float64   // of their weights in a draw
	visited uint64      // afterstates judged
}

func newChooser(g *task.Game, width int) *chooser {
	c := &chooser{game: g, reader: g.Reader(), hand: g.Hand(), third: g.Rules.New(g.Rules.MinSeats), width: width}
	if g.Worth != nil {
		c.worth = g.Worth()
	}
	return c
}

// use makes the chooser choose by net from now on.
func (c *chooser) use(net *mlp.Net) { c.net = net.Clone() }

// open lists seat's choices in s and plays each out on a state of its own.
func (c *chooser) open(l *level, s env.State, seat int) {
	l.legal = s.Legal(seat, l.legal[:0])
	l.live = 0
	if n := len(l.legal); cap(l.worth) < n {
		l.worth, l.out, l.slot = make([]float32, n), make([]float32, n), make([]int, n)
	}
	l.worth, l.slot, l.out = l.worth[:len(l.legal)], l.slot[:cap(l.worth)], l.out[:cap(l.worth)]
	for len(l.states) < len(l.legal) {
		l.states = append(l.states, c.game.Rules.New(c.game.Rules.MinSeats))
	}
	for i, a := range l.legal {
		next := l.states[l.live]
		next.CopyFrom(s)
		env.After(next, seat, a)
		if next.Acting() == 0 {
			l.worth[i] = certain * next.Result(seat)
			continue
		}
		l.slot[l.live] = i
		l.live++
	}
	c.visited += uint64(l.live)
}

// judge gives every afterstate of l the net's value, the log odds of winning.
func (c *chooser) judge(l *level, seat int) {
	if l.live == 0 {
		return
	}
	c.read(l, seat)
	c.net.Base(l.shared, c.game.Own, l.acc)
	c.net.ForwardFrom(l.acc, l.x, c.game.Own, l.live, l.out)
	for k, v := range l.out[:l.live] {
		l.worth[l.slot[k]] = v
	}
}

// read fills in the features of l's afterstates.
func (c *chooser) read(l *level, seat int) {
	own := c.game.Own
	if need := l.live * own; len(l.x) < need {
		l.x = make([]float32, max(need, 64*own))
	}
	if l.shared == nil {
		l.shared, l.acc = make([]float32, len(c.game.Features)-own), make([]float32, c.net.AccLen())
	}
	c.reader.Shared(l.states[0], seat, l.shared)
	for k, s := range l.states[:l.live] {
		c.reader.Own(s, seat, l.x[k*own:(k+1)*own])
	}
}

// byNet returns the index in root.legal of the choice the net likes best.
func (c *chooser) byNet(s env.State, seat int) int {
	c.open(&c.root, s, seat)
	c.judge(&c.root, seat)
	best := best(c.root.worth)
	if !c.deep || c.root.live < 2 {
		return best
	}
	c.rank()
	first, worth := best, float32(math.Inf(-1))
	for _, k := range c.order[:min(c.width, len(c.order))] {
		if v := c.second(c.root.states[k], seat); v > worth {
			first, worth = c.root.slot[k], v
		}
	}
	return first
}

// second returns the worth of seat's best choice in s.
func (c *chooser) second(s env.State, seat int) float32 { return c.bestIn(&c.leaf, s, seat) }

// bestIn returns the worth of seat's best choice in s, with l as memory.
func (c *chooser) bestIn(l *level, s env.State, seat int) float32 {
	c.open(l, s, seat)
	c.judge(l, seat)
	if b := best(l.worth); b >= 0 {
		return l.worth[b]
	}
	return -certain
}

// byHand returns the index in root.legal of the choice the hand-tuned evaluator likes
// best.
func (c *chooser) byHand(s env.State, seat int) int {
	l := &c.root
	c.open(l, s, seat)
	if l.live > 0 {
		c.hand.Evaluate(l.states[:l.live], seat, l.out[:l.live])
		for k, v := range l.out[:l.live] {
			l.worth[l.slot[k]] = v
		}
	}
	return best(l.worth)
}

// rank puts the live afterstates of the root in order of worth.
func (c *chooser) rank() {
	c.order = c.order[:0]
	for k := range c.root.live {
		c.order = append(c.order, k)
		for j := k; j > 0 && c.root.worth[c.root.slot[k]] > c.root.worth[c.root.slot[c.order[j-1]]]; j-- {
			c.order[j], c.order[j-1] = c.order[j-1], k
		}
	}
}

// best is the index of the greatest number, the first of equals; -1 of none.
func best(worth []float32) int {
	b := min(0, len(worth)-1)
	for i, v := range worth {
		if v > worth[b] {
			b = i
		}
	}
	return b
}

// row writes the features of the k-th afterstate of the root.
func (c *chooser) row(k, seat int, out []float32) {
	own := c.game.Own
	c.reader.Shared(c.root.states[k], seat, out[own:])
	c.reader.Own(c.root.states[k], seat, out[:own])
}

// find returns which afterstate of the root choice i in root.legal led to, -1 if to the
// end of the game.
func (c *chooser) find(i int) int { return c.root.find(i) }

// find returns which afterstate of l choice i led to, -1 if to the end of the game.
func (l *level) find(i int) int {
	for k := range l.live {
		if l.slot[k] == i {
			return k
		}
	}
	return -1
}
