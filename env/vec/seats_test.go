package vec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env/blocking"
	"blockyard/env/vec"
)

// A position with another number of seats is refused: nobody would play the seats beyond.
func TestRefusesOtherSeatCounts(t *testing.T) {
	three, _, _ := start(t, blocking.Game, vec.Config{Envs: 1, Seats: 3})
	snap, err := three.Snapshot(0, nil)
	require.NoError(t, err)
	for _, agents := range [][]vec.AgentFactory{nil, {nil, newDie}} {
		two, _, _ := start(t, blocking.Game, vec.Config{Envs: 1, Seats: 2, Agents: agents})
		before := positions(t, two)
		const says = "3 seats, want 2"
		require.ErrorContains(t, two.Restore(0, snap), says)
		require.Equal(t, before, positions(t, two))
	}
}
