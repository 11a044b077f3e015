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
	r, err := MultiPlayer{Rules: blocking.Game, A: firstly("a"), B: firstly("b"), Seats: 4, Sets: 3, Seed: 1, Workers: 2,
		Record: func(rec *record.Record) error {
			for seat, name := range rec.Agents {
				if name == "a" {
					seats[string(rune('0'+seat))]++
				}
			}
			return record.Check(blocking.Game, rec)
		}}.Play(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int{"0": 3, "1": 3, "2": 3, "3": 3}, seats)
	require.Equal(t, 12, r.Games)
	require.InDelta(t, r.OthersRank, r.Rank, 1e-9)
	require.InDelta(t, r.OthersScore, r.Score, 1e-9)
	require.LessOrEqual(t, r.Low, r.Rank)
	require.GreaterOrEqual(t, r.High, r.Rank)
}

func TestMultiPlayerIsTheSameForAnyWorkers(t *testing.T) {
	match := MultiPlayer{Rules: blocking.Game, A: firstly("a"), B: randomly("b"), Seats: 3, Sets: 6, Seed: 2}
	want, err := match.Play(t.Context())
	require.NoError(t, err)
	require.Greater(t, want.Rank, want.OthersRank, "the first placement of all is a bad one")
	games := 0
	match.Workers, match.Progress = 3, func(n int) { games = n }
	got, err := match.Play(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, 18, games)
}

func TestMultiPlayerStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	match := MultiPlayer{
		Rules: blocking.Game, A: waitAfter(firstly("a"), 0, 10, 9), B: firstly("b"), Seats: 3, Sets: 100000,
		Progress: func(int) { cancel() },
	}
	r, err := match.Play(ctx)
	require.NoError(t, err)
	require.Positive(t, r.Sets)
	require.LessOrEqual(t, r.Sets, 10)
	match.Seats = 5
	_, err = match.Play(t.Context())
	require.ErrorContains(t, err, "5 seats: want at least 1 set and 2 to 4 seats")
}
