package match

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

// played plays a match and keeps its games.
func played(t testing.TB, m Match) (*Report, []*record.Record) {
	var kept []*record.Record
	m.Record = func(rec *record.Record) error {
		kept = append(kept, rec)
		return record.Check(m.Rules, rec)
	}
	res := envtest.Must(m.Play(t.Context()))
	require.Len(t, kept, res.Games)
	return res, kept
}

// paired plays a match of pairs of Block Battle.
func paired(t testing.TB, m Match) (Meeting, []*record.Record) {
	m.Rules = blockbattle.Game
	res, kept := played(t, m)
	require.Equal(t, res.Games, 2*res.Meetings[0].Pairs.N())
	return res.Meetings[0], kept
}

func TestNullTestIsExactlyEven(t *testing.T) {
	for _, name := range []string{"first", "hand:ply=1", "terms6:ply=2", "hand:ply=1,time=1h"} {
		p := named(t, name)
		res, _ := paired(t, Match{Players: []Player{p, p}, Units: 5, Seed: 4, Workers: 2})
		require.Equal(t, &Pairs{0, 0, 5, 0, 0}, res.Pairs, name)
		require.Equal(t, res.Wins, res.Losses, name)
	}
}

// Games and results follow from the seed of a match, for any number of workers. The games of a pair, a set or a seed share
// theirs. The first player has one seat after the other; in a game of one seat, the players take turns.
func TestMatchIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	for _, m := range []Match{
		{Rules: blockbattle.Game, Players: []Player{randomly("a"), randomly("b")}, Units: 30, Seed: 8},
		{Rules: wintetris.Game, Players: []Player{randomly("a"), lazy()}, Units: 9, Seed: 4},
		{Rules: blocking.Game, Players: []Player{firstly("a"), randomly("b")}, Seats: 3, Units: 6, Seed: 2},
		{Rules: blocking.Game, Players: []Player{firstly("a"), firstly("b")}, Seats: 4, Units: 3, Seed: 1},
	} {
		t.Run(m.Rules.Name, func(t *testing.T) {
			told := 0
			m.Progress = func(n int, _ string) { told = n }
			res, games := played(t, m)
			require.Equal(t, len(games), told)
			for _, m.Workers = range []int{2, 7, 200} {
				again, kept := played(t, m)
				require.Equal(t, res, again, "%d workers", m.Workers)
				require.Equal(t, games, kept, "%d workers", m.Workers)
			}
			unit, seeds, points := len(games)/m.Units, map[uint64]bool{}, map[string]int{}
			for i, rec := range games {
				require.Equal(t, games[i/unit*unit].Seed, rec.Seed)
				seeds[rec.Seed] = true
				who := slices.Repeat([]string{m.Players[1].Name}, len(rec.Agents))
				if k := i % unit; len(who) == 1 {
					who[0] = m.Players[k].Name
				} else {
					who[k] = m.Players[0].Name
				}
				require.Equal(t, who, rec.Agents)
				points[rec.Agents[0]] += rec.Scores[0]
			}
			require.Len(t, seeds, m.Units)
			for _, p := range res.Players {
				require.Empty(t, p.Ends)
				if m.Rules.MaxSeats == 1 {
					require.Equal(t, []int{m.Units, points[p.Name]}, []int{p.Games, p.Points.Total})
				}
			}
			switch m.Rules {
			case blockbattle.Game:
				require.NotZero(t, res.Meetings[0].Wins)
				require.NotZero(t, res.Meetings[0].Losses)
				require.NotEqual(t, games[0].Choices[0], games[1].Choices[1], "a random player draws anew in every game")
			case blocking.Game:
				if a, b := res.Players[0], res.Players[1]; m.Seats == 4 { // equal players, who leave nothing to chance
					require.InDelta(t, b.Rank.Value, a.Rank.Value, 1e-9)
					require.InDelta(t, b.Points.Mean.Value, a.Points.Mean.Value, 1e-9)
					require.True(t, a.Rank.Low <= a.Rank.Value && a.Rank.Value <= a.Rank.High)
					require.Equal(t, []int{12, 36}, []int{a.Games, res.Meetings[0].Total()}, "three opponents in every game")
					break
				}
				require.Greater(t, res.Players[0].Rank.Value, res.Players[1].Rank.Value, "the first placement of all is a bad one")
			}
			m.Seed++
			other, _ := played(t, m)
			require.NotEqual(t, res, other, "another seed, other games")
		})
	}
}

func TestSPRTStopsTheMatchAtTheSamePairForAnyWorkers(t *testing.T) {
	for _, workers := range []int{1, 5} {
		res, _ := paired(t, Match{
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

// What was played when the context ends is the beginning of the whole match.
func TestEndOfContextKeepsTheUnitsPlayed(t *testing.T) {
	for _, c := range []struct {
		m Match
		p Player
	}{
		{Match{Rules: blockbattle.Game, Seed: 1}, named(t, "random")},
		{Match{Rules: blocking.Game, Seats: 3}, firstly("a")},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		waiting := Player{c.p.Name, "", func(seed uint64) (env.Agent, error) {
			if ctx.Err() == nil {
				return c.p.New(seed)
			}
			return acts(func(ctx context.Context, _ env.State, _ int) (env.Action, error) {
				<-ctx.Done()
				return env.None, ctx.Err()
			}), nil
		}}
		m := c.m
		m.Players, m.Units, m.Workers = []Player{waiting, waiting}, 1<<30, 3
		m.Progress = func(games int, _ string) {
			if games >= 20 {
				cancel()
			}
		}
		res := envtest.Must(m.Play(ctx))
		require.GreaterOrEqual(t, res.Games, 20)
		require.True(t, res.Stopped)
		res.Stopped = false
		m.Players, m.Units, m.Progress = []Player{c.p, c.p}, res.Units, nil
		whole := envtest.Must(m.Play(t.Context()))
		require.Equal(t, whole, res)
	}
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
	require.EqualError(t, envtest.Failed(m.Play(context.Background())), "disk full")
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

func randomly(name string) Player {
	return Player{Name: name, New: func(seed uint64) (env.Agent, error) { return search.NewRandom(seed), nil }}
}

func firstly(name string) Player {
	return Player{Name: name, New: func(uint64) (env.Agent, error) { return search.NewFirst(), nil }}
}

// lazy never chooses: the piece comes down where it is.
func lazy() Player {
	return Player{Name: "lazy", New: func(uint64) (env.Agent, error) {
		return acts(func(context.Context, env.State, int) (env.Action, error) { return env.None, nil }), nil
	}}
}

func TestSinglePlayerInPieces(t *testing.T) {
	m := Match{Rules: wintetris.Game, Players: []Player{randomly("dice")}, Units: 5, Seed: 8}
	_, whole := played(t, m)
	m.Units, m.Skip = 2, 3
	_, part := played(t, m)
	require.Equal(t, whole[3:], part)
}

func TestSinglePlayerStopsGames(t *testing.T) {
	s := Match{Rules: wintetris.Game, Players: []Player{lazy()}, Units: 2, Steps: 3}
	r := envtest.Must(s.Play(context.Background()))
	p := r.Players[0]
	require.Equal(t, []int{2, 2, 6, 0}, []int{p.Games, p.Ends[Limit], p.Turns, p.Points.Total})
}

func TestMatchesAreRefused(t *testing.T) {
	good := Match{Rules: wintetris.Game, Players: []Player{lazy()}, Units: 1}
	for says, change := range map[string]func(*Match){
		"blocking has 2 to 4 seats: not a game for 5": func(s *Match) { s.Rules, s.Seats = blocking.Game, 5 },
		"has 1 to 1 seats: not a game for 2":          func(s *Match) { s.Seats = 2 },
		"sprt":                                        func(s *Match) { s.SPRT = new(SPRT) },
		"0 pairs, sets or seeds":                      func(s *Match) { s.Units = 0 },
		"a player is missing":                         func(s *Match) { s.Players = nil },
		"cap -1, steps 0, skip 0: want none below 0":  func(s *Match) { s.Cap = -1 },
	} {
		s := good
		change(&s)
		require.ErrorContains(t, envtest.Failed(s.Play(context.Background())), says)
	}
	r, err := good.Play(envtest.Stopped(t))
	require.NoError(t, err, "the end of the context is no error")
	require.Zero(t, r.Games)
	require.True(t, r.Stopped)
	good.Players[0].New = func(uint64) (env.Agent, error) { return nil, errors.New("out of order") }
	require.ErrorContains(t, envtest.Failed(good.Play(context.Background())), "lazy: out of order")
}

// alone is the report of players that score these points on the same seeds, each alone.
func alone(points ...[]int) *Report {
	var players []Standing
	for k := range points {
		players = append(players, Standing{Number: k})
	}
	r := NewReport(wintetris.Game, "1", players)
	var games []Played
	for unit := range points[0] {
		for k := range points {
			games = append(games, Played{Unit: unit, Seats: []int{k}, Points: points[k][unit : unit+1], Ranks: []int{1}})
			if points[k][unit] >= 50 || points[k][unit] == 20 {
				games[len(games)-1].Reason = Limit
			}
		}
	}
	r.Add(games)
	return r
}

func TestPoints(t *testing.T) {
	s := alone([]int{10, 30, 50, 20}).Players[0]
	p := s.Points
	require.Equal(t, &Points{Mean: p.Mean, Median: 25, Worst: 10, Best: 50, Total: 110, PerEnd: p.PerEnd}, p)
	require.Equal(t, 2, s.Ends[Limit])
	require.InDelta(t, 27.5, p.Mean.Value, 1e-9)
	require.InDelta(t, 3.182*8.539, p.Mean.High-p.Mean.Value, 0.01, "t of 3 degrees times the standard error")
	// Of a count of 2, the exact interval of its expectation is 0.2422 to 7.2247.
	require.InDelta(t, 55, p.PerEnd.Value, 1e-9)
	require.InDelta(t, 110/7.2247, p.PerEnd.Low, 0.01)
	require.InDelta(t, 110/0.2422, p.PerEnd.High, 0.2)

	none := alone([]int{60}).Players[0].Points.PerEnd
	require.InDelta(t, 60/2.9957, none.Low, 0.01)
	require.Equal(t, &Estimate{none.Low, none.Low, 0}, none)
}

func TestPlayersAloneAreCompared(t *testing.T) {
	a := []int{5, 7, 9}
	m := alone(a, []int{5, 4, 3}).Meetings[0]
	require.Equal(t, Counts{2, 1, 0}, m.Counts)
	require.InDelta(t, 5./6, m.Score.Value, 1e-9)
	require.InDelta(t, 3, m.Difference.Value, 1e-9)
	require.InDelta(t, 3-4.3027*3/1.7321, m.Difference.Low, 0.001)
	require.Nil(t, m.Pairs)
	m = alone(a, []int{0, 0, 0}).Meetings[0]
	require.InDelta(t, 0.2924, m.Score.Low, 0.001, "three of three still happen at ⅓ or so")
	require.InDelta(t, 1, m.Score.High, 0)
}

// A ladder's games are those of a match, also if a limit stops them, but nothing of their choices is kept.
func TestAgentsKeepNoRecord(t *testing.T) {
	for _, steps := range []int{0, 3} {
		m := Match{Rules: wintetris.Paper10Game, Players: []Player{randomly("dice")}, Units: 4, Seed: 3, Steps: steps}
		var want []Played
		m.Record = func(r *record.Record) error {
			p := Played{Number: len(want), Seed: strconv.FormatUint(r.Seed, 10), Seats: []int{0}}
			p.note(m.Rules, r, len(r.Choices))
			want = append(want, p)
			return nil
		}
		envtest.Must(m.Play(t.Context()))
		for _, w := range want {
			got := Played{Number: w.Number, Seed: w.Seed, Seats: w.Seats}
			rec := envtest.Must((&Agents{m}).Play(t.Context(), &got))
			require.Nil(t, rec)
			require.Equal(t, w, got)
			require.Positive(t, got.Rounds)
		}
	}
	rec := envtest.Must(Play(t.Context(), Game{Rules: wintetris.Paper10Game, Names: []string{"random"}, Brief: true,
		Agents: []env.Agent{search.NewRandom(1)}}))
	require.Empty(t, rec.Choices)
	require.Len(t, rec.Scores, 1)
}
