package match

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/datasets/record"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

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
		_, err := s.Play(context.Background())
		require.ErrorContains(t, err, says)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := good.Play(ctx)
	require.NoError(t, err, "the end of the context is no error")
	require.Zero(t, r.Games)
	require.True(t, r.Stopped)
	good.Players[0].New = func(uint64) (env.Agent, error) { return nil, errors.New("out of order") }
	_, err = good.Play(context.Background())
	require.ErrorContains(t, err, "lazy: out of order")
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
	rec, err := Play(t.Context(), Game{Rules: wintetris.Paper10Game, Names: []string{"random"}, Brief: true,
		Agents: []env.Agent{search.NewRandom(1)}})
	require.NoError(t, err)
	require.Empty(t, rec.Choices)
	require.Len(t, rec.Scores, 1)
}
