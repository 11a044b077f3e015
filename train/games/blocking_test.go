package games

import (
	"strings"
	"testing"

	"blockyard/env"
	"blockyard/env/blocking"

	"github.com/stretchr/testify/require"
)

// The target of a game is within 0 and 1, the higher the better a seat did, and with
// two seats what one gains the other loses.
func TestBlockingChance(t *testing.T) {
	s := blocking.New(2, 0)
	s.Reason = blocking.Blocked
	last := float32(0)
	for margin := -30; margin <= 30; margin++ {
		s.Points[0], s.Points[1] = int16(60+margin), 60
		a, b := Blocking.Chance(s, 0), Blocking.Chance(s, 1)
		require.InDelta(t, 1, a+b, 1e-6)
		require.Greater(t, a, last)
		require.Less(t, a, float32(1))
		last = a
	}
	four := blocking.New(4, 0)
	four.Reason = blocking.Blocked
	four.Points = [4]int16{30, 20, 20, 10}
	var c [4]float32
	for i := range c {
		c[i] = Blocking.Chance(four, i)
	}
	require.Greater(t, c[0], float32(.9))
	require.Equal(t, c[1], c[2])
	require.Greater(t, c[1], c[3])
}

// Blocking with other shapes is trained by the same features; its weights are those of Blocking.
func TestBlockingWithOtherShapes(t *testing.T) {
	lines := blocking.DefaultTable.Lines()
	lines[4] = "E 1 4 ####"
	shapes, err := blocking.ReadShapes(strings.NewReader(strings.Join(lines, "\n")))
	require.NoError(t, err)
	rules, err := blocking.With(blocking.NewTable(shapes))
	require.NoError(t, err)
	g, err := Of(rules)
	require.NoError(t, err)
	require.Same(t, rules, g.Rules)
	require.Equal(t, Blocking.Features, g.Features)
	require.Equal(t, "blocking", g.entry.Facts(g.Rules, nil).Game)
	require.Same(t, blocking.Game, Blocking.Rules)
	s := rules.New(2)
	var r env.Rand
	r.Seed(1)
	for range 20 {
		g.Damage(s, &r)
		require.True(t, s.(*blocking.State).SameTable(rules.New(2)))
	}
}
