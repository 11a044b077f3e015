package solo

import (
	"context"

	"blockyard/agents/valuenet"
	"blockyard/env"
	"blockyard/train/learn"
)

// A chooser looks at the choices of one decision. It belongs to one goroutine.
type chooser struct {
	game   *learn.Game
	net    *valuenet.Net
	reader learn.Reader
	leap   float64
	player env.Agent // chooses instead, if the game has one
	legal  []env.Action
	states []env.State
	live   []int     // of the choices after which the game goes on
	reward []float32 // by choice
	x      []float32 // [live][features]
	value  []float32 // by live choice: what the net gives
	seen   uint64    // afterstates looked at
}

func newChooser(g *learn.Game) *chooser { return &chooser{game: g, reader: g.Reader()} }

// open plays out every choice in s and has the net judge those after which it goes on.
func (c *chooser) open(s env.State) {
	n := len(c.game.Features)
	c.legal = c.choices(s, c.legal[:0])
	c.live, c.reward = c.live[:0], c.reward[:0]
	for len(c.states) < len(c.legal) {
		c.states = append(c.states, c.game.Solo.Rules.New(1))
		c.x, c.value = append(c.x, make([]float32, n)...), append(c.value, 0)
	}
	before := s.Score(0)
	for i, a := range c.legal {
		next := c.states[i]
		next.CopyFrom(s)
		next.After(0, a)
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
func (c *chooser) earn(points int) float32 {
	if c.game.Solo.Earn != nil {
		return float32(c.game.Solo.Earn(points, c.leap))
	}
	return float32(c.game.Solo.Unit * float64(points))
}

// use makes the chooser choose by net from now on.
func (c *chooser) use(net *valuenet.Net) {
	c.net = net.Clone()
	if c.game.Solo.Player != nil {
		c.player = c.game.Solo.Player(net.Clone())
	}
}

// choices appends what is to be looked at: every legal choice, or the player's alone.
func (c *chooser) choices(s env.State, dst []env.Action) []env.Action {
	if c.player != nil {
		if a, err := c.player.Act(context.Background(), s, 0); err == nil && a != env.None {
			return append(dst, a)
		}
	}
	return s.Legal(0, dst)
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
