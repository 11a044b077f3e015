package games

import (
	"testing"

	"blockyard/agents/bots/blockbattlebot"

	"github.com/stretchr/testify/require"
)

// The opponents of a game are its baseline and the other evaluators of its entry, each one new.
func TestOpponent(t *testing.T) {
	for _, o := range blockbattlebot.Entry.Others {
		e, err := BlockBattle.Opponent(o.Name)
		require.NoError(t, err)
		require.Equal(t, o.New(), e)
	}
	a, err := BlockBattle.Opponent("hand")
	require.NoError(t, err)
	b, err := BlockBattle.Opponent("hand")
	require.NoError(t, err)
	require.Equal(t, blockbattlebot.NewHand(), a)
	require.NotSame(t, a, b, "it belongs to one worker")
	_, err = Blocking.Opponent("greedy")
	require.NoError(t, err)
	for _, name := range []string{"", "combo", "hand:ply=2", "learned"} {
		_, err = TetrisDuel.Opponent(name)
		require.ErrorContains(t, err, "there are hand", name)
	}
}
