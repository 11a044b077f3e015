package games

import (
	"testing"

	"blockyard/agents/bots/blockbattlebot"
	"blockyard/env"

	"github.com/stretchr/testify/require"
)

// Within a decision, and two choices deep in it, the first net's values are the baseline
// evaluator's but for a constant.
func TestStartIsHand(t *testing.T) {
	net, err := BlockBattle.Start(5, 1)
	require.NoError(t, err)
	learned, err := BlockBattle.Learned(net)
	require.NoError(t, err)
	hand := blockbattlebot.NewHand()
	var r env.Rand
	r.Seed(14)
	s, next := BlockBattle.Rules.New(2), BlockBattle.Rules.New(2)
	compared := 0
	for range 60 {
		s.Reset(r.Next())
		BlockBattle.Damage(s, &r)
		seat := below(&r, 2)
		var states []env.State
		for _, a := range s.Legal(seat, nil) {
			next.CopyFrom(s)
			env.After(next, seat, a)
			if next.Acting() == 0 {
				continue
			}
			one := BlockBattle.Rules.New(2)
			one.CopyFrom(next)
			legal := next.Legal(seat, nil)
			env.After(next, seat, legal[below(&r, len(legal))])
			states = append(states, one)
			if next.Acting() != 0 {
				two := BlockBattle.Rules.New(2)
				two.CopyFrom(next)
				states = append(states, two)
			}
		}
		if len(states) < 2 {
			continue
		}
		want, got := make([]float32, len(states)), make([]float32, len(states))
		hand.Evaluate(states, seat, want)
		learned.Evaluate(states, seat, got)
		for i := range states {
			require.InDelta(t, handUnit*(want[i]-want[0]), got[i]-got[0], 1e-3)
			compared++
		}
	}
	require.Greater(t, compared, 1000)
}

func TestStartRefuses(t *testing.T) {
	_, err := BlockBattle.Start(1, 1)
	require.ErrorContains(t, err, "hidden layer of 1")
}

// Positions that games start late from can be saved and restored, whatever is drawn.
func TestLateStartsPassTheirCheck(t *testing.T) {
	for _, g := range []*Game{BlockBattle, TetrisDuel, Blocking, Dropblox} {
		if g.Damage == nil {
			continue
		}
		s, r := g.Rules.New(g.Rules.MinSeats), env.Rand{}
		for seed := range uint64(2000) {
			r.Seed(seed)
			s.Reset(seed)
			g.Damage(s, &r)
			require.NoError(t, s.Check(), "%s, seed %d", g.Rules.Name, seed)
		}
	}
}
