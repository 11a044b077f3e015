package single

import (
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/train/task"
)

// A chooser looks at the choices of one decision. It belongs to one goroutine.
type chooser struct {
	game   *task.Game
	net    *mlp.Net
	reader task.Reader
	plan   task.Planner // chooses instead, if the game has one
	width  int          // of its search
	legal  []env.Action
	states []env.State
	live   []int     // of the choices after which the game goes on
	reward []float32 // by choice
	x      []float32 // [live][features]
	value  []float32 // by live choice: what the net gives
	seen   uint64    // afterstates looked at
}

func newChooser(g *task.Game, width int) *chooser {
	return &chooser{game: g, reader: g.Reader(), width: width}
}

// open plays out every choice in s and has the net judge those after which it goes on.
func (c *chooser) open(s env.State) {
	n := len(c.game.Features)
	c.legal = s.Legal(0, c.legal[:0])
	c.live, c.reward = c.live[:0], c.reward[:0]
	for len(c.states) < len(c.legal) {
		c.states = append(c.states, c.game.Solo.Rules.New(1))
		c.x, c.value = append(c.x, make([]float32, n)...), append(c.value, 0)
	}
	before := s.Score(0)
	for i, a := range c.legal {
		next := c.states[i]
		next.CopyFrom(s)
		env.After(next, 0, a)
		c.reward = append(c.reward, c.earn(next.Score(0)-before))
		if next.Acting() != 0 {
			k := len(c.live)
			c.reader.Own(next, 0, c.x[k*n:(k+1)*n])
			c.live = append(c.live, i)
		}
	}
	c.net.Forward(c.x, len(c.live), c.value)
	c.seen += uint64(len(c.legal))
}

// earn is what points made by one choice are worth.
func (c *chooser) earn(points int) float32 { return float32(c.game.Solo.Unit * float64(points)) }

// use makes the chooser choose by net from now on, or by hand where the game has a planner.
func (c *chooser) use(net *mlp.Net, hand bool) {
	c.net = net.Clone()
	switch {
	case c.game.Solo.Planner == nil:
	case hand:
		c.plan = c.game.Solo.Planner(nil, c.width)
	default:
		c.plan = c.game.Solo.Planner(net.Clone(), c.width)
	}
}

// best returns the place in live of the best choice, the first of equals; -1 if the game
// ends with every one.
func (c *chooser) best() int {
	best, most := -1, float32(0)
	discount := float32(c.game.Solo.Discount)
	for k, i := range c.live {
		if w := c.reward[i] + discount*c.value[k]; best < 0 || w > most {
			best, most = k, w
		}
	}
	return best
}

// row returns the features of the k-th live choice.
func (c *chooser) row(k int) []float32 {
	n := len(c.game.Features)
	return c.x[k*n : (k+1)*n]
}

// pick returns the choice that is made in s without exploring.
func (c *chooser) pick(s env.State) env.Action {
	if c.plan != nil {
		if a, _, _ := c.planned(s); a != env.None {
			return a
		}
	}
	c.open(s)
	if k := c.best(); k >= 0 {
		return c.legal[c.live[k]]
	}
	return c.legal[0]
}

// planned asks the planner; the features of where its plan ends are then the first row.
func (c *chooser) planned(s env.State) (a env.Action, points int, ok bool) {
	if n := len(c.game.Features); len(c.x) < n {
		c.x, c.value = make([]float32, n), make([]float32, 1)
	}
	c.seen++
	return c.plan.Plan(s, c.row(0))
}
