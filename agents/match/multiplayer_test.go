package match

import (
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
	r, err := Match{Rules: blocking.Game, Players: []Player{firstly("a"), firstly("b")}, Seats: 4, Units: 3, Seed: 1, Workers: 2,
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
	a, b := r.Players[0], r.Players[1]
	require.InDelta(t, b.Rank.Value, a.Rank.Value, 1e-9)
	require.InDelta(t, b.Points.Mean.Value, a.Points.Mean.Value, 1e-9)
	require.LessOrEqual(t, a.Rank.Low, a.Rank.Value)
	require.GreaterOrEqual(t, a.Rank.High, a.Rank.Value)
	require.Equal(t, []int{12, 36}, []int{a.Games, r.Meetings[0].Total()}, "three opponents in every game")
}
