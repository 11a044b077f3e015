package dropbloxbot

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/dropblox"
)

// TestLeftmostPlaysTheCommands plays whole games by the agent and by the commands "left": both give the same boards.
func TestLeftmostPlaysTheCommands(t *testing.T) {
	for seed := range uint64(20) {
		var agent, words dropblox.State
		agent.Reset(seed)
		words.Reset(seed)
		for turns := 0; !agent.Failed; turns++ {
			require.Less(t, turns, 100)
			a, err := Leftmost{}.Act(t.Context(), &agent, 0)
			require.NoError(t, err)
			require.Contains(t, agent.Legal(0, nil), a)
			agent.Step(env.Moves{a})
			words.Turn(slices.Repeat([]string{"left"}, dropblox.Cols)...)
			require.Equal(t, words.Taken, agent.Taken, "seed %d, turn %d", seed, turns)
			require.Equal(t, words.Points, agent.Points)
		}
		require.True(t, words.Failed)
	}
}
