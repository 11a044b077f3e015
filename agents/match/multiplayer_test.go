package match

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blocking"
)

func randomly(name string) Player {
	return Player{Name: name, New: func(seed uint64) (env.Agent, error) { return search.NewRandom(seed), nil }}
}

func firstly(name string) Player {
	return Player{Name: name, New: func(uint64) (env.Agent, error) { return search.NewFirst(), nil }}
}

// A player against itself has the rank of the others, exactly, if it leaves nothing to
// chance; in a set it has every seat once.
func TestMultiPlayerOfEqualPlayersIsExactlyEven(t *testing.T) {
	seats := map[string]int{}
	r, err := Match{Rules: blocking.Game, A: firstly("a"), B: firstly("b"), Seats: 4, Units: 3, Seed: 1, Workers: 2,
		Record: func(rec *record.Record) error {
			for seat, name := range rec.Agents {
				if name == "a" {
					seats[string(rune('0'+seat))]++
				}
			}
			return record.Check(blocking.Game, rec)
		}}.MultiPlayer(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int{"0": 3, "1": 3, "2": 3, "3": 3}, seats)
	require.Equal(t, 12, r.Games)
	require.InDelta(t, r.OthersRank, r.Rank, 1e-9)
	require.InDelta(t, r.OthersScore, r.Score, 1e-9)
	require.LessOrEqual(t, r.Low, r.Rank)
	require.GreaterOrEqual(t, r.High, r.Rank)
}

func TestMultiPlayerIsTheSameForAnyWorkers(t *testing.T) {
	m := Match{Rules: blocking.Game, A: firstly("a"), B: randomly("b"), Seats: 3, Units: 6, Seed: 2}
	want, err := m.MultiPlayer(t.Context())
	require.NoError(t, err)
	require.Greater(t, want.Rank, want.OthersRank, "the first placement of all is a bad one")
	games := 0
	m.Workers, m.Progress = 3, func(n int, _ string) { games = n }
	got, err := m.MultiPlayer(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, 18, games)
}

func TestMultiPlayerStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := Match{
		Rules: blocking.Game, A: waitAfter(firstly("a"), 0, 10, 9), B: firstly("b"), Seats: 3, Units: 100000,
		Progress: func(int, string) { cancel() },
	}
	r, err := m.MultiPlayer(ctx)
	require.NoError(t, err)
	require.Positive(t, r.Sets)
	require.LessOrEqual(t, r.Sets, 10)
	m.Seats = 5
	_, err = m.MultiPlayer(t.Context())
	require.ErrorContains(t, err, "2 to 4 seats: not a game for 5")
}
