package match

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/registry"
	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
)

func named(t testing.TB, text string) Player {
	t.Helper()
	f, err := registry.Parse(blockbattle.Game, text)
	require.NoError(t, err)
	return Player{Name: text, New: f}
}

// acts is an agent made of a function.
type acts func(ctx context.Context, s env.State, seat int) (env.Action, error)

func (f acts) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	return f(ctx, s, seat)
}

func duel(a, b env.Agent) Game {
	return Game{Rules: blockbattle.Game, Seed: 3, Names: []string{"a", "b"}, Agents: []env.Agent{a, b}}
}

func TestRecordReplaysToTheSameEnd(t *testing.T) {
	for seed := range uint64(5) {
		g := duel(search.NewRandom(seed), search.NewFirst())
		g.Seed = seed
		rec, err := Play(context.Background(), g)
		require.NoError(t, err)
		require.NoError(t, record.Check(blockbattle.Game, rec))
		require.False(t, rec.Stopped)
		require.Equal(t, []string{"a", "b"}, rec.Agents)
		require.Empty(t, rec.Values, "nobody told")
	}
}

func TestValuesAreKeptWhereASearchTells(t *testing.T) {
	a, err := named(t, "terms6:ply=1").New(1)
	require.NoError(t, err)
	rec, err := Play(context.Background(), duel(a, search.NewRandom(1)))
	require.NoError(t, err)
	require.Len(t, rec.Values, len(rec.Choices))
	for i, v := range rec.Values {
		require.Equal(t, i%2 == 0, v < 0, "choice %d: seat 0 tells, seat 1 does not", i)
	}
}

func TestAgentsSeeHiddenCopiesOnly(t *testing.T) {
	var truth blockbattle.State
	looks := 0
	spy := acts(func(_ context.Context, s env.State, seat int) (env.Action, error) {
		mine := s.(*blockbattle.State)
		a := mine.Legal(seat, nil)[0]
		looks++
		require.NotSame(t, &truth, mine)
		require.Equal(t, truth.Sides, mine.Sides)
		require.Equal(t, truth.Next, mine.Next)
		require.NotEqual(t, truth.Word, mine.Word, "what comes after the next piece is not for agents")
		mine.Reset(99) // its own copy: nobody else may notice
		return a, nil
	})
	g := duel(spy, spy)
	s := blockbattle.Game.New(2)
	s.Reset(g.Seed)
	truth = *s.(*blockbattle.State)
	g.Watch = func(s env.State, m env.Moves) error {
		require.Equal(t, &truth, s.(*blockbattle.State), "the position moved on its own")
		if m != env.NoMoves {
			next := truth
			next.Step(m)
			truth = next
		}
		return nil
	}
	rec, err := Play(context.Background(), g)
	require.NoError(t, err)
	require.Equal(t, len(rec.Choices), looks)
}

func TestBadAgentsAreNamed(t *testing.T) {
	plays := func(a env.Action, err error) acts {
		return func(context.Context, env.State, int) (env.Action, error) { return a, err }
	}
	for name, c := range map[string]struct {
		agent env.Agent
		want  string
	}{
		"illegal":      {plays(blockbattle.SkipAction, nil), "blockbattle: seat 1 (b): step 0: illegal action: skip"},
		"out of range": {plays(40000, nil), "illegal action: 40000, of 1601 actions"},
		"failing":      {plays(0, errors.New("no idea")), "blockbattle: seat 1 (b): step 0: no idea"},
	} {
		rec, err := Play(context.Background(), duel(search.NewFirst(), c.agent))
		require.ErrorContains(t, err, c.want, name)
		require.True(t, rec.Stopped)
		require.Empty(t, rec.Choices)
		require.NoError(t, record.Check(blockbattle.Game, rec))
	}
	_, err := Play(context.Background(), duel(search.NewFirst(), plays(env.None, nil)))
	require.NoError(t, err, "no answer is an answer")
	three := duel(search.NewFirst(), search.NewFirst())
	three.Agents = append(three.Agents, search.NewFirst())
	_, err = Play(context.Background(), three)
	require.ErrorContains(t, err, "blockbattle: 3 agents, want 2 to 2")
}

// played plays a table and keeps its games.
func played(t testing.TB, ctx context.Context, table Table) (Result, []*record.Record) {
	t.Helper()
	var kept []*record.Record
	table.Rules = blockbattle.Game
	table.Record = func(rec *record.Record) error {
		kept = append(kept, rec)
		return nil
	}
	res, err := table.Play(ctx)
	require.NoError(t, err)
	require.Len(t, kept, res.Games())
	require.Equal(t, res.Games(), 2*res.Pairs.N())
	return res, kept
}

func TestNullTestIsExactlyEven(t *testing.T) {
	for _, name := range []string{"first", "hand:ply=1", "terms6:ply=2", "hand:ply=1,time=1h"} {
		p := named(t, name)
		res, _ := played(t, context.Background(), Table{A: p, B: p, Pairs: 5, Seed: 4, Workers: 2})
		require.Equal(t, Pairs{0, 0, 5, 0, 0}, res.Pairs, name)
		require.Equal(t, res.Wins, res.Losses, name)
	}
}

func TestTableIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	table := Table{A: named(t, "random"), B: named(t, "random"), Pairs: 60, Seed: 8}
	var first Result
	var games []*record.Record
	for i, workers := range []int{1, 2, 7, 200, 0} {
		table.Workers = workers
		res, kept := played(t, context.Background(), table)
		if i == 0 {
			first, games = res, kept
			require.NotZero(t, res.Wins)
			require.NotZero(t, res.Losses)
		}
		require.Equal(t, first, res, "%d workers", workers)
		require.Equal(t, games, kept, "%d workers", workers)
	}
	table.Seed++
	res, _ := played(t, context.Background(), table)
	require.NotEqual(t, first, res, "another seed, other games")
}

func TestPairsShareTheSeedAndSwapTheSeats(t *testing.T) {
	_, kept := played(t, context.Background(), Table{A: named(t, "random"), B: named(t, "first"), Pairs: 4, Seed: 8, Workers: 2})
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
	ab, _ := played(t, context.Background(), Table{A: a, B: b, Pairs: 20, Seed: 1, Workers: 2})
	ba, _ := played(t, context.Background(), Table{A: b, B: a, Pairs: 20, Seed: 1, Workers: 2})
	require.Equal(t, ab.Wins, ba.Losses)
	require.Equal(t, ab.Losses, ba.Wins)
	for i := range ab.Pairs {
		require.Equal(t, ab.Pairs[i], ba.Pairs[4-i])
	}
	require.Greater(t, ab.Pairs.Score(), 0.5)
}

func TestSPRTStopsTheTableAtTheSamePairForAnyWorkers(t *testing.T) {
	for _, workers := range []int{1, 5} {
		res, _ := played(t, context.Background(), Table{
			A: named(t, "random"), B: named(t, "first"), Pairs: 1000, Seed: 2, Workers: workers,
			SPRT: &SPRT{Elo0: 0, Elo1: 100, Alpha: 0.05, Beta: 0.05},
		})
		require.Equal(t, AcceptH1, res.Verdict)
		require.Less(t, res.Games(), 100)
		before := res.Pairs
		before[4]-- // every pair was won
		require.Equal(t, Undecided, SPRT{0, 100, 0.05, 0.05}.Verdict(before), "it stopped one pair too late")
		require.Zero(t, res.Losses+res.Draws)
	}
}

func TestEndOfContextKeepsThePairsPlayed(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := named(t, "random")
	table := Table{Rules: blockbattle.Game, A: p, B: p, Pairs: 1 << 30, Seed: 1, Workers: 3}
	table.Progress = func(r Result) {
		if r.Games() == 20 {
			cancel()
		}
	}
	res, err := table.Play(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, res.Games(), 20)
	require.Less(t, res.Games(), 200)

	table.Pairs, table.Progress = res.Pairs.N(), nil
	whole, err := table.Play(context.Background())
	require.NoError(t, err)
	require.Equal(t, whole, res, "what was played is the beginning of the whole")
}

func TestTroubleEndsTheTable(t *testing.T) {
	closed := new(atomic.Int64)
	made := new(atomic.Int64)
	bad := Player{Name: "bad", New: func(seed uint64) (env.Agent, error) {
		if made.Add(1) > 6 {
			return nil, errors.New("no more")
		}
		return &closing{search.NewRandom(seed), closed}, nil
	}}
	table := Table{Rules: blockbattle.Game, A: named(t, "random"), B: bad, Pairs: 50, Workers: 1}
	res, err := table.Play(context.Background())
	require.EqualError(t, err, "bad: no more")
	require.Equal(t, 6, res.Games())
	require.Equal(t, int64(6), closed.Load(), "every agent is closed")

	table.B = named(t, "first")
	table.Record = func(*record.Record) error { return errors.New("disk full") }
	_, err = table.Play(context.Background())
	require.EqualError(t, err, "disk full")

	table.Pairs = 0
	_, err = table.Play(context.Background())
	require.ErrorContains(t, err, "0 pairs")
	table.Pairs, table.SPRT = 1, &SPRT{}
	_, err = table.Play(context.Background())
	require.ErrorContains(t, err, "sprt")
	solo := *blockbattle.Game
	solo.MinSeats, solo.MaxSeats = 1, 1
	table.Rules = &solo
	_, err = table.Play(context.Background())
	require.ErrorContains(t, err, "a table is for two players, the game is for 1 to 1")
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
