package match

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

// played plays a match and keeps its games.
func played(t testing.TB, ctx context.Context, m Match) (Meeting, []*record.Record) {
	t.Helper()
	var kept []*record.Record
	m.Rules = blockbattle.Game
	m.Record = func(rec *record.Record) error {
		kept = append(kept, rec)
		return nil
	}
	res, err := m.Play(ctx)
	require.NoError(t, err)
	require.Len(t, kept, res.Games)
	require.Equal(t, res.Games, 2*res.Meetings[0].Pairs.N())
	return res.Meetings[0], kept
}

func TestNullTestIsExactlyEven(t *testing.T) {
	for _, name := range []string{"first", "hand:ply=1", "terms6:ply=2", "hand:ply=1,time=1h"} {
		p := named(t, name)
		res, _ := played(t, context.Background(), Match{Players: []Player{p, p}, Units: 5, Seed: 4, Workers: 2})
		require.Equal(t, &Pairs{0, 0, 5, 0, 0}, res.Pairs, name)
		require.Equal(t, res.Wins, res.Losses, name)
	}
}

func TestTwoPlayerIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	m := Match{Players: []Player{named(t, "random"), named(t, "random")}, Units: 60, Seed: 8}
	var first Meeting
	var games []*record.Record
	for i, workers := range []int{1, 2, 7, 200, 0} {
		m.Workers = workers
		res, kept := played(t, context.Background(), m)
		if i == 0 {
			first, games = res, kept
			require.NotZero(t, res.Wins)
			require.NotZero(t, res.Losses)
		}
		require.Equal(t, first, res, "%d workers", workers)
		require.Equal(t, games, kept, "%d workers", workers)
	}
	m.Seed++
	res, _ := played(t, context.Background(), m)
	require.NotEqual(t, first, res, "another seed, other games")
}

func TestPairsShareTheSeedAndSwapTheSeats(t *testing.T) {
	m := Match{Players: []Player{named(t, "random"), named(t, "first")}, Units: 4, Seed: 8, Workers: 2}
	_, kept := played(t, context.Background(), m)
	seeds := map[uint64]bool{}
	for i, rec := range kept {
		require.NoError(t, record.Check(blockbattle.Game, rec))
		require.Equal(t, kept[i/2*2].Seed, rec.Seed)
		require.Equal(t, []string{"random", "first"}[i%2], rec.Agents[0])
		require.Equal(t, []string{"random", "first"}[1-i%2], rec.Agents[1])
		seeds[rec.Seed] = true
	}
	require.Len(t, seeds, 4)
	require.NotEqual(t, kept[0].Choices[0], kept[1].Choices[1], "a random player draws anew in every game")
}

func TestOrderOfThePlayersDoesNotMatter(t *testing.T) {
	a, b := named(t, "hand:ply=1"), named(t, "terms6:ply=1")
	ab, _ := played(t, context.Background(), Match{Players: []Player{a, b}, Units: 20, Seed: 1, Workers: 2})
	ba, _ := played(t, context.Background(), Match{Players: []Player{b, a}, Units: 20, Seed: 1, Workers: 2})
	require.Equal(t, ab.Wins, ba.Losses)
	require.Equal(t, ab.Losses, ba.Wins)
	for i := range ab.Pairs {
		require.Equal(t, ab.Pairs[i], ba.Pairs[4-i])
	}
	require.Greater(t, ab.Pairs.Score(), 0.5)
}

func TestSPRTStopsTheMatchAtTheSamePairForAnyWorkers(t *testing.T) {
	for _, workers := range []int{1, 5} {
		res, _ := played(t, context.Background(), Match{
			Players: []Player{named(t, "random"), named(t, "first")}, Units: 1000, Seed: 2, Workers: workers,
			SPRT: &SPRT{Elo0: 0, Elo1: 100, Alpha: 0.05, Beta: 0.05},
		})
		require.Equal(t, AcceptH1, res.Verdict)
		require.Less(t, res.Total(), 100)
		before := *res.Pairs
		before[4]-- // every pair was won
		require.Equal(t, Undecided, SPRT{0, 100, 0.05, 0.05}.Verdict(before), "it stopped one pair too late")
		require.Zero(t, res.Losses+res.Draws)
	}
}

func TestEndOfContextKeepsThePairsPlayed(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := named(t, "random")
	waiting := waitAfter(p, 1, 30, 4)
	m := Match{Rules: blockbattle.Game, Players: []Player{waiting, waiting}, Units: 1 << 30, Seed: 1, Workers: 3}
	m.Progress = func(games int, _ string) {
		if games == 20 {
			cancel()
		}
	}
	res, err := m.Play(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, res.Games, 20)
	require.LessOrEqual(t, res.Games, 60)

	require.True(t, res.Stopped)
	res.Stopped = false
	m.Players, m.Units, m.Progress = []Player{p, p}, res.Units, nil
	whole, err := m.Play(context.Background())
	require.NoError(t, err)
	require.Equal(t, whole, res, "what was played is the beginning of the whole")
}

func TestAFailureEndsTheMatch(t *testing.T) {
	closed := new(atomic.Int64)
	made := new(atomic.Int64)
	bad := Player{Name: "bad", New: func(seed uint64) (env.Agent, error) {
		if made.Add(1) > 6 {
			return nil, errors.New("no more")
		}
		return &closing{search.NewRandom(seed), closed}, nil
	}}
	m := Match{Rules: blockbattle.Game, Players: []Player{named(t, "random"), bad}, Units: 50, Workers: 1}
	res, err := m.Play(context.Background())
	require.EqualError(t, err, "bad: no more")
	require.Equal(t, 6, res.Games)
	require.Equal(t, int64(6), closed.Load(), "every agent is closed")

	m.Players[1] = named(t, "first")
	m.Record = func(*record.Record) error { return errors.New("disk full") }
	_, err = m.Play(context.Background())
	require.EqualError(t, err, "disk full")

	m.Units = 0
	_, err = m.Play(context.Background())
	require.ErrorContains(t, err, "0 pairs, sets or seeds")
	m.Units, m.SPRT = 1, &SPRT{}
	_, err = m.Play(context.Background())
	require.ErrorContains(t, err, "sprt")
	solo := *blockbattle.Game
	solo.MinSeats, solo.MaxSeats = 1, 1
	m.Rules, m.Seats = &solo, 2
	_, err = m.Play(context.Background())
	require.ErrorContains(t, err, "has 1 to 1 seats: not a game for 2")
}

// closing is an agent that counts how often it is closed.
type closing struct {
	env.Agent
	closed *atomic.Int64
}

func (c *closing) Close() error {
	c.closed.Add(1)
	return nil
}
