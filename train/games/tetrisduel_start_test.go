package games

import (
	"testing"

	"blockyard/agents/bots/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/tetrisduel"

	"github.com/stretchr/testify/require"
)

// The first net's values are the baseline evaluator's, scaled up over the last half-turns.
func TestStartOfDuelIsHand(t *testing.T) {
	net, err := TetrisDuel.Start(5, 1)
	require.NoError(t, err)
	learned, err := TetrisDuel.Learned(net)
	require.NoError(t, err)
	hand := tetrisduelbot.NewHand()
	var r env.Rand
	r.Seed(15)
	s, next := TetrisDuel.Rules.New(2).(*tetrisduel.State), TetrisDuel.Rules.New(2)
	compared, late := 0, 0
	for range 400 {
		s.Reset(r.Next())
		TetrisDuel.Damage(s, &r)
		seat := s.Mover()
		for _, a := range s.Legal(seat, nil) {
			next.CopyFrom(s)
			env.After(next, seat, a)
			if next.Acting() == 0 {
				continue
			}
			d := next.(*tetrisduel.State)
			left := tetrisduel.HalfTurns - int(d.Turn) + 1
			lead := d.Points[seat] - d.Points[1-seat]
			scale := float32(1)
			if left < 40 {
				scale = 40 / float32(left)
				late++
			}
			if v := float32(lead) * scale; v > 160 || v < -160 {
				continue
			}
			want, got := make([]float32, 1), make([]float32, 1)
			hand.Evaluate([]env.State{next}, seat, want)
			learned.Evaluate([]env.State{next}, seat, got)
			require.InDelta(t, handUnit*want[0]*scale, got[0], 2e-3)
			compared++
		}
	}
	require.Greater(t, compared, 3000)
	require.Greater(t, late, 100)
}

func TestStartRefuses(t *testing.T) {
	_, err := TetrisDuel.Start(1, 1)
	require.ErrorContains(t, err, "hidden layer of 1")
}
