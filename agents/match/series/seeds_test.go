package series

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/contest/dropblox"
	"blockyard/agents/contest/dropblox/programs"
	"blockyard/agents/match"
)

func TestEstimate(t *testing.T) {
	require.Equal(t, "0.0", format(match.MeanOf(nil), 0, "%.1f"))
	require.Equal(t, "7.0", format(match.MeanOf([]float64{7}), 1, "%.1f"))
	// The mean of 1..5 is 3, s²/n is 0.5, and Student's t for 4 degrees of freedom 2.776.
	require.Equal(t, "3.00 (1.04 to 4.96)", format(match.MeanOf([]float64{1, 2, 3, 4, 5}), 5, "%.2f"))
}

// How long the points took counts in the games that reached them, and is compared where both programs did.
func TestReached(t *testing.T) {
	game := func(seed string, bot int, seconds float64) *Game {
		if seconds == 0 {
			return &Game{Seed: seed, Bot: bot, Reason: dropblox.Blocked}
		}
		return &Game{Seed: seed, Bot: bot, Score: 500, Reason: dropblox.Points, Seconds: &seconds}
	}
	tour := Seeds{
		Programs: []*programs.Program{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Seeds:    []string{"1", "2", "3"},
		Game:     dropblox.LocalGame{Clock: time.Minute, Player: dropblox.Player{Points: 500}},
		results: [][]*Game{
			{game("1", 0, 10), game("1", 1, 12), game("1", 2, 0)},
			{game("2", 0, 20), game("2", 1, 22), game("2", 2, 0)},
			{game("3", 0, 0), game("3", 1, 14), game("3", 2, 0)},
		},
	}
	r := tour.Report(false)
	require.Equal(t, 15.0, r.Bots[0].Reached.Value)
	require.Nil(t, r.Bots[0].Later)
	require.Equal(t, 16.0, r.Bots[1].Reached.Value)
	require.Equal(t, 2.0, r.Bots[1].Later.Value)
	require.Nil(t, r.Bots[2].Reached)
	text := r.String()
	require.Contains(t, text, "3 seeds, 60 s a game, until 500 points\n")
	require.Contains(t, text, "\nA is a\n  500 points after 15.0 (-48.5 to 78.5) s of the clock, in 2 of 3 games\nB is b: ")
	require.Contains(t, text, "in 3 of 3 games\n  +2.0 (+2.0 to +2.0) s later than A, on 2 seeds\nC is c: ")
}
