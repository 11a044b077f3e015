package phases

import (
	"math"
	"testing"

	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/train/games"
	"blockyard/train/selfplay/afterstate"

	"github.com/stretchr/testify/require"
)

// softmax is the slow twin of draw.
func softmax(prefs []float32, temperature float64) []float64 {
	out, sum := make([]float64, len(prefs)), 0.0
	for _, v := range prefs {
		sum += math.Exp(float64(v) / temperature)
	}
	for i, v := range prefs {
		out[i] = math.Exp(float64(v)/temperature) / sum
	}
	return out
}

// Draws come as often as the softmax says, the two of a pair independently.
func TestDrawsFollowSoftmax(t *testing.T) {
	const n = 20000
	c := &actorPolicy{prefs: []float32{0.1, -0.3, 0.4, 0.35, -2}}
	p := softmax(c.prefs, 0.25)
	var r env.Rand
	r.Seed(3)
	joint := [5][5]float64{}
	for range n {
		a, b := c.draw(0.25, &r)
		joint[a][b]++
	}
	for a := range p {
		for b := range p {
			want := p[a] * p[b]
			require.InDelta(t, want, joint[a][b]/n, 1e-9+5*math.Sqrt(want*(1-want)/n), "%d and %d", a, b)
		}
	}
	c.prefs = []float32{5}
	a, b := c.draw(1e-3, &r)
	require.Zero(t, a+b)
	c.prefs = []float32{-1e5, 1e5, -1e5} // no overflow
	a, b = c.draw(1e-3, &r)
	require.Equal(t, []int{1, 1}, []int{a, b})
}

// Options are all afterstates one ply deep, and two plies deep the best of them as Best
// sees them; the row of each has its preference as the net's output.
func TestOptions(t *testing.T) {
	r, _, c := start(t, games.BlockBattle, nil)
	c.Width = 3
	var rand env.Rand
	rand.Seed(8)
	s := r.Game.Rules.New(2)
	row, out := make([]float32, len(r.Game.Features)), make([]float32, 1)
	for i := range 40 {
		s.Reset(rand.Next())
		r.Game.Damage(s, &rand)
		c.TwoPly = i%2 == 1
		c.list(s, 1)
		if len(c.options) == 0 {
			continue
		}
		if !c.TwoPly {
			require.Len(t, c.options, c.Root.Live)
		} else {
			require.LessOrEqual(t, len(c.options), 3)
		}
		for n, k := range c.options {
			c.optionRow(n, 1, row)
			r.Net().Forward(row, 1, out)
			require.InDelta(t, c.prefs[n], out[0], 1e-5)
			if c.TwoPly {
				require.Equal(t, c.prefs[n], c.BestWorth(&c.Leaf, c.Root.States[k], 1))
			}
		}
		likes := c.Root.Choice[c.options[afterstate.Best(c.prefs)]]
		require.Equal(t, likes, c.Best(s, 1))
	}
}

// If seats take turns nobody chooses twice, and two-ply options are worth what they are
// one ply deep.
func TestOptionsTakingTurns(t *testing.T) {
	r, _, p := start(t, takes, nil)
	p.TwoPly, p.Width = true, 3
	s := takes.Rules.New(3)
	row, out := make([]float32, 4), make([]float32, 1)
	for seed := range uint64(10) {
		s.Reset(seed)
		p.list(s, 0)
		require.Len(t, p.options, int(s.(*toy.State).Card))
		for n := range p.options {
			p.optionRow(n, 0, row)
			r.Net().Forward(row, 1, out)
			require.InDelta(t, p.prefs[n], out[0], 1e-5)
		}
	}
}

// A choice that wins at once is made, not drawn.
func TestCertainChoicesAreNotDrawn(t *testing.T) {
	g := *takes
	g.Chance = nil
	r, l, c := start(t, &g, nil)
	l.config.Temperature = 100
	slot := r.Slots[0]
	s := slot.State.(*toy.State)
	for seed := range uint64(20) {
		s.Reset(seed)
		s.Card, s.Points[0] = 3, toy.Target-3
		c.Begin(slot)
		c.list(s, 0)
		require.Empty(t, c.options)
		require.Equal(t, "card 3 take 3", toy.Text(c.Choose(slot, 0)))
		require.Empty(t, slot.Notes.(*notes).seats[0].at)
		l.critic.collect(func(*seatNotes, []float32) { t.Fatal("a choice that ends the game has no row") })
	}
}
