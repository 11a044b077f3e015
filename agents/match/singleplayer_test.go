package match

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/wintetris"
)

// lazy never chooses: the piece comes down where it is.
func lazy() Player {
	return Player{Name: "lazy", New: func(uint64) (env.Agent, error) {
		return acts(func(context.Context, env.State, int) (env.Action, error) { return env.None, nil }), nil
	}}
}

func dice() Player {
	return Player{Name: "dice", New: func(seed uint64) (env.Agent, error) { return search.NewRandom(seed), nil }}
}

func TestSinglePlayerDoesNotDependOnWorkers(t *testing.T) {
	var want *SinglePlayerResult
	for _, workers := range []int{1, 3} {
		var recs []*record.Record
		s := Match{Rules: wintetris.Game, A: dice(), B: lazy(), Units: 9, Seed: 4, Workers: workers}
		s.Record = func(r *record.Record) error {
			recs = append(recs, r)
			return record.Check(wintetris.Game, r)
		}
		got, err := s.SinglePlayer(context.Background())
		require.NoError(t, err)
		require.Len(t, got.Runs[0], 9)
		require.Len(t, recs, 18)
		for i, r := range recs {
			require.Equal(t, recs[i&^1].Seed, r.Seed, "both play the same seeds")
			require.Equal(t, []string{"dice", "lazy"}[i&1], r.Agents[0])
			require.Equal(t, Run{r.Scores[0], len(r.Choices), true}, got.Runs[i&1][i/2])
		}
		if want == nil {
			want = &got
		}
		require.Equal(t, *want, got)
	}
}

func TestSinglePlayerInPieces(t *testing.T) {
	s := Match{Rules: wintetris.Game, A: dice(), Units: 5, Seed: 8}
	whole, err := s.SinglePlayer(context.Background())
	require.NoError(t, err)
	s.Units, s.Skip = 2, 3
	rest, err := s.SinglePlayer(context.Background())
	require.NoError(t, err)
	require.Equal(t, whole.Runs[0][3:], rest.Runs[0])
}

func TestSinglePlayerStopsGames(t *testing.T) {
	s := Match{Rules: wintetris.Game, A: lazy(), Units: 2, Steps: 3}
	r, err := s.SinglePlayer(context.Background())
	require.NoError(t, err)
	require.Equal(t, [][]Run{{{0, 3, false}, {0, 3, false}}}, r.Runs)
	stats := r.AStats
	require.Equal(t, []int{2, 0, 6}, []int{stats.Stopped, stats.Deaths, stats.Steps})
}

func TestSinglePlayerRefuses(t *testing.T) {
	good := Match{Rules: wintetris.Game, A: lazy(), Units: 1}
	for says, change := range map[string]func(*Match){
		"not a game for 1":                           func(s *Match) { s.Rules = blockbattle.Game },
		"0 pairs, sets or seeds":                     func(s *Match) { s.Units = 0 },
		"a player is missing":                        func(s *Match) { s.A = Player{} },
		"cap -1, steps 0, skip 0: want none below 0": func(s *Match) { s.Cap = -1 },
	} {
		s := good
		change(&s)
		_, err := s.SinglePlayer(context.Background())
		require.ErrorContains(t, err, says)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := good.SinglePlayer(ctx)
	require.NoError(t, err, "the end of the context is no error")
	require.Empty(t, r.Runs[0])
	require.True(t, r.Stopped)
	good.A.New = func(uint64) (env.Agent, error) { return nil, errors.New("out of order") }
	_, err = good.SinglePlayer(context.Background())
	require.ErrorContains(t, err, "lazy: out of order")
}

func TestStats(t *testing.T) {
	r := []Run{{10, 100, true}, {30, 300, true}, {50, 400, false}, {20, 200, false}}
	l := statsOf(r)
	require.Equal(t, RunStats{
		Games: 4, Mean: l.Mean, Median: 25, Worst: 10, Best: 50,
		Stopped: 2, Deaths: 2, Total: 110, PerDeath: l.PerDeath, Steps: 1000,
	}, l)
	require.InDelta(t, 27.5, l.Mean.Value, 1e-9)
	require.InDelta(t, 3.182*8.539, l.Mean.High-l.Mean.Value, 0.01, "t of 3 degrees times the standard error")
	// Of a count of 2, the exact interval of its expectation is 0.2422 to 7.2247.
	require.InDelta(t, 55, l.PerDeath.Value, 1e-9)
	require.InDelta(t, 110/7.2247, l.PerDeath.Low, 0.01)
	require.InDelta(t, 110/0.2422, l.PerDeath.High, 0.2)

	none := statsOf([]Run{{60, 1, false}}).PerDeath
	require.InDelta(t, 60/2.9957, none.Low, 0.01)
	require.Equal(t, Estimate{none.Low, none.Low, 0}, none)
}

func TestCompare(t *testing.T) {
	a := []Run{{Score: 5}, {Score: 7}, {Score: 9}}
	var c, all SinglePlayerResult
	c.compare(a, []Run{{Score: 5}, {Score: 4}, {Score: 3}})
	require.Equal(t, []int{2, 1, 0}, []int{c.Wins, c.Draws, c.Losses})
	require.InDelta(t, 5./6, c.Score, 1e-9)
	require.InDelta(t, 3, c.Difference.Value, 1e-9)
	require.InDelta(t, 3-4.3027*3/1.7321, c.Difference.Low, 0.001)
	all.compare(a, []Run{{}, {}, {}})
	require.InDelta(t, 0.2924, all.Low, 0.001, "three of three still happen at ⅓ or so")
	require.InDelta(t, 1, all.High, 0)
}
