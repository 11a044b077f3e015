package dropbloxbot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/dropblox"
)

// The shipped net plays on where the classic terms, with as narrow a beam, have lost: from
// where blocks begin to grow, in many games, for a few say nothing. It looks at all blocks
// that are known, since it has learned what boards are worth six blocks on.
func TestShippedNetIsStronger(t *testing.T) {
	points := func(r Rater) (sum int) {
		for seed := uint64(1); seed <= 16; seed++ {
			a := NewAgent(r, 6, 0, 0)
			var s dropblox.State
			s.Reset(seed)
			for s.Points = 430; s.Acting() != 0; {
				act, err := a.Act(t.Context(), &s, 0)
				require.NoError(t, err)
				require.NoError(t, env.Apply(dropblox.Game, &s, env.Alone(0, act)))
			}
			sum += int(s.Points)
		}
		return sum
	}
	good, classic := points(shippedRater(t)), points(&Hand{Classic})
	t.Logf("%d points to %d", good, classic)
	require.Greater(t, good, classic)
}
