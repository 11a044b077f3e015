package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/match"
)

func TestArenaOfOneSeat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl")
	line := "arena wintetris --a hand --b random --games 6 --seed 3 --cap-lines 30 --steps 200 --record " + path
	status, out, errs := agents(context.Background(), line+" --json")
	require.Zero(t, status, errs)
	require.Equal(t, 1, strings.Count(out, "\n"))
	var got match.SinglePlayerReport
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, []int{6, 30, 200}, []int{got.Games, got.Cap, got.Steps})
	require.Equal(t, []int{6, 0, 0}, []int{got.Wins, got.Draws, got.Losses})
	require.Equal(t, []float64{1, 1}, []float64{got.Score, got.High})
	require.Equal(t, 6, got.AStats.Deaths+got.AStats.Stopped)
	require.GreaterOrEqual(t, got.AStats.Worst, 15)
	require.Equal(t, 6, got.BStats.Deaths)
	require.InDelta(t, got.AStats.Mean.Value-got.BStats.Mean.Value, got.Difference.Value, 1e-9)
	require.Len(t, checked(t, path), 12)

	_, out, _ = agents(context.Background(), line)
	for _, want := range []string{"hand and random, each alone, seed 3, 6 games, stopped at score 30, stopped after 200 choices", "score     mean", "by seed   6 wins"} {
		require.Contains(t, out, want)
	}
	_, out, _ = agents(context.Background(), "arena wintetris:tick --a hand:parts=1 --games 2 --steps 40 --workers 1")
	require.Contains(t, out, "per end   none in a score of")
	require.NotContains(t, out, "by seed")
}

func TestArenaOfOneSeatRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"arena wintetris --a hand --games 0":                                    "--games counts from 1",
		"arena wintetris --a hand --cap -1":                                     "--cap",
		"arena wintetris --a hand --seats 2":                                    "the game is for one",
		"arena wintetris --a hand --sprt 0,5":                                   "--sprt is for two seats",
		"arena wintetris --a hand:parts=1":                                      "wintetris:tick leaves it to the player",
		"arena wintetris:tick --a hand:parts=0":                                 "not a number from 1 to 100",
		"arena wintetris --a hand:ply=2":                                        `unknown option "ply"; there are parts, weights`,
		"arena wintetris --a learned:weights=/no/such":                          "/no/such",
		"arena blockbattle --a first --b first --games 2 --steps 4":             "are for games of one seat",
		"arena tetrisduel --a first --b first --games 2 --cap 4 --workers 1 -q": "tetrisduel has more",
	} {
		status, out, errs := agents(context.Background(), line)
		require.Equal(t, 2, status, line)
		require.Contains(t, errs, want, line)
		require.Empty(t, out, line)
	}
}

func TestArenaForMoreSeats(t *testing.T) {
	status, out, errs := agents(t.Context(), "arena blocking --a hand:ply=1 --b random --seats 4 --games 8 -q")
	require.Zero(t, status, errs)
	require.Contains(t, out, "blocking for 4: one hand:ply=1 among random")
	require.Contains(t, out, "games   8 in 2 sets, first in 8")
	status, out, errs = agents(t.Context(), "arena blocking --a random --b random --seats 3 --games 3 -q --json")
	require.Zero(t, status, errs)
	var got match.MultiPlayerReport
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, 1, got.Sets)
}
