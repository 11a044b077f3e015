package series

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
	"blockyard/env/dropblox"
)

// How long the points took counts in the games that reached them, and is compared where both programs did.
func TestReached(t *testing.T) {
	s := Series{Names: []string{"a", "b", "c"}, Rules: dropblox.Game, Games: Alone(3, []string{"1", "2", "3"})}
	for i, seconds := range []float64{10, 12, 0, 20, 22, 0, 0, 14, 0} {
		g := s.Games[i]
		require.Equal(t, []int{i % 3}, g.Seats)
		g.After, g.Ranks, g.Faults = []float64{seconds}, []int{1}, []string{""}
		if g.Points, g.Reason = []int{0}, "blocked"; seconds > 0 {
			g.Points, g.Reason = []int{500}, "points"
		}
		s.played = append(s.played, g)
	}
	r := s.Report()
	r.Settings = map[string]string{"seconds": "60", "points": "500"}
	require.Equal(t, 15.0, r.Players[0].Reached.Value)
	require.Equal(t, 16.0, r.Players[1].Reached.Value)
	require.Nil(t, r.Players[2].Reached)
	require.Len(t, r.Meetings, 3)
	require.Equal(t, -2.0, r.Meetings[0].Later.Value, "a reached them earlier than b")
	require.Nil(t, r.Meetings[1].Later)
	require.Equal(t, match.Counts{Draws: 2, Losses: 1}, r.Meetings[0].Counts)
	require.Equal(t, map[string]int{"blocked": 1, "points": 2}, r.Players[0].Ends)
	text := r.String()
	require.Contains(t, text, "dropblox, seed : 9 games, 60 s a game, until 500 points\n")
	require.Contains(t, text, "\nA: 500 points after 15.0 (-48.5 to 78.5) s of the clock, in 2 of 3 games\n")
	require.Contains(t, text, "\na won 0, drew 2 and lost 1 of 3 games against b: 33.3 %")
	require.Contains(t, text, " points a seed; -2.0 s later\n")
}
