package search_test

import (
	"context"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/blockingbot"
	"blockyard/agents/bots/tetrisduelbot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/tetrisduel"
)

// exhaustive is the reference: the values of the actions of seat in s, ply plies deep, going on
// from the best width of each position, without alpha-beta.
func exhaustive(
	g *env.Game, e search.Evaluator, s env.State, seat, ply, width, from int,
) (legal []env.Action, values []float32) {
	legal = s.Legal(seat, nil)
	values = make([]float32, len(legal))
	states := make([]env.State, len(legal))
	var live []int
	for i, a := range legal {
		states[i] = g.New(2)
		states[i].CopyFrom(s)
		states[i].Force(make([]uint16, env.MaxDraws))
		env.After(states[i], seat, a)
		if states[i].Acting() == 0 {
			values[i] = states[i].Result(seat) * (search.Win - float32(from+1))
			continue
		}
		e.Evaluate(states[i:i+1], seat, values[i:i+1])
		live = append(live, i)
	}
	if ply == 1 {
		return legal, values
	}
	sort.SliceStable(live, func(i, j int) bool { return values[live[i]] > values[live[j]] })
	for n, i := range live {
		if n >= width {
			values[i] = -2 * search.Win
			continue
		}
		mover := states[i].Acting().First()
		replies, w := exhaustive(g, e, states[i], mover, ply-1, width, from+1)
		if len(replies) == 0 {
			values[i] = search.Win - float32(from+2)
			continue
		}
		if values[i] = -w[first(w)]; mover == seat {
			values[i] = w[first(w)]
		}
	}
	return legal, values
}

// first is the index of the first of the greatest values.
func first(values []float32) (at int) {
	for i, v := range values {
		if v > values[at] {
			at = i
		}
	}
	return at
}

// table is a game of two seats, with a zero-sum evaluator.
type table struct {
	game *env.Game
	eval func() search.Evaluator
	late func(s env.State) bool // a position near the end of the game
}

var duel = table{tetrisduel.Game, func() search.Evaluator { return tetrisduelbot.NewHand() },
	func(s env.State) bool { return s.(*tetrisduel.State).Turn > 20 }}

// In Blocking a seat without a legal placement passes while the other one goes on.
var blocks = table{blocking.Game, func() search.Evaluator { return blockingbot.NewHand() },
	func(s env.State) bool { return s.(*blocking.State).Stuck != 0 }}

// Positions of toys have no hash.
var toys = table{toy.Turns, func() search.Evaluator { return lead{} }, func(env.State) bool { return true }}

// lead is a zero-sum evaluator of the toy games.
type lead struct{}

func (lead) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		t := s.(*toy.State)
		word := env.Mix(uint64(t.Points[0])<<32 ^ uint64(t.Points[1]))
		out[i] = float32(int(t.Points[0])-int(t.Points[1])) + float32(word%8)/4
		if seat == 1 {
			out[i] = -out[i]
		}
	}
}

// along plays random actions, and calls f with what the seat to move sees in each of n positions. It returns how many
// games ended.
func along(t *testing.T, g *env.Game, seats, n int, seed uint64, f func(s env.State, seat int)) (ended int) {
	random, s, view := search.NewRandom(seed), g.New(seats), g.New(seats)
	s.Reset(seed)
	for k := range n {
		if s.Acting() == 0 {
			s.Reset(100*seed + uint64(k))
			ended++
		}
		seat := s.Acting().First()
		env.View(view, s, seat, seed)
		f(view, seat)
		s.Step(env.Alone(seat, choice(t.Context(), random, s, seat)))
	}
	return ended
}

func choice(ctx context.Context, a env.Agent, s env.State, seat int) env.Action {
	return envtest.Must(a.Act(ctx, s, seat))
}

// Alpha-beta changes neither the action nor its value.
func TestMinimaxIsTheExhaustiveOne(t *testing.T) {
	for _, c := range []struct {
		table
		ply, width, positions int
	}{{duel, 1, 4, 300}, {duel, 2, 5, 60}, {duel, 3, 4, 40}, {duel, 4, 3, 25}, {blocks, 3, 4, 60}, {blocks, 4, 3, 60},
		{toys, 3, 100, 400}, {toys, 4, 100, 400}, {toys, 5, 100, 400}} {
		m, n, deeper := search.NewMinimax(c.game, c.eval(), c.ply, c.width), 0, 0
		ended := along(t, c.game, 2, c.positions, uint64(c.ply), func(s env.State, seat int) {
			if n++; n%2 == 0 || c.late(s) {
				legal, values := exhaustive(c.game, c.eval(), s, seat, c.ply, c.width, 0)
				require.Equal(t, legal[first(values)], choice(t.Context(), m, s, seat))
				require.Equal(t, values[first(values)], m.Value())
				deeper++
			}
		})
		require.Greater(t, deeper, 10)
		require.True(t, ended > 0 || c.positions < 60, "no game went to its end")
	}
}

// If more than two play, Minimax is Reply.
func TestMinimaxOfManySeatsIsReply(t *testing.T) {
	m := search.NewMinimax(blocking.Game, blockingbot.NewHand(), 4, 5)
	r := search.NewReply(blocking.Game, blockingbot.NewHand(), 5)
	along(t, blocking.Game, 3, 30, 4, func(s env.State, seat int) {
		require.Equal(t, choice(t.Context(), r, s, seat), choice(t.Context(), m, s, seat))
		require.Equal(t, r.Value(), m.Value())
	})
}

// With enough time, iterative deepening ends with the same action and value as the search without a deadline. Without
// any time left, it plays the best action at one ply.
func TestMinimaxAgainstTheClock(t *testing.T) {
	g := tetrisduel.Game
	whole, timed := search.NewMinimax(g, duel.eval(), 4, 5), search.NewMinimax(g, duel.eval(), 4, 5)
	greedy := search.NewGreedy(g, duel.eval())
	long, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	along(t, g, 2, 40, 6, func(s env.State, seat int) {
		require.Equal(t, choice(t.Context(), whole, s, seat), choice(long, timed, s, seat))
		require.Equal(t, whole.Value(), timed.Value())
		require.Equal(t, choice(t.Context(), greedy, s, seat), choice(envtest.Stopped(t), timed, s, seat))
	})
}

// A search with too little time, also a quick one, plays one of the best actions at one ply, at a value that it has
// found, whenever its time ends.
func TestMinimaxPlaysWhatItHasSearched(t *testing.T) {
	const width = 3
	for _, c := range []struct {
		table
		ply int
	}{{duel, 4}, {duel, search.MaxPly}, {blocks, search.MaxPly}} {
		e, n := &until{Evaluator: c.eval()}, 0
		m := search.NewMinimax(c.game, e, c.ply, width)
		along(t, c.game, 2, 60, 3, func(s env.State, seat int) {
			legal, values := exhaustive(c.game, c.eval(), s, seat, 1, width, 0)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			e.left, e.end = 3*n*n, cancel
			got := choice(ctx, m, s, seat)
			cancel()
			require.Contains(t, legal, got)
			i, better := sort.Search(len(legal), func(i int) bool { return legal[i] >= got }), 0
			for k, v := range values {
				if v > values[i] || v == values[i] && k < i {
					better++
				}
			}
			require.Less(t, better, width)
			require.Greater(t, m.Value(), -2*search.Win)
			n++
		})
	}
}

// until ends a search after so many positions.
type until struct {
	search.Evaluator
	left int
	end  func()
}

func (u *until) Evaluate(states []env.State, seat int, out []float32) {
	if u.left -= len(states); u.left < 0 {
		u.end()
	}
	u.Evaluator.Evaluate(states, seat, out)
}

// At the end of a game, a quick search sees the result if every action is among the widest.
func TestQuickMinimaxSeesTheEnd(t *testing.T) {
	won := 0
	m := search.NewMinimax(blocking.Game, blockingbot.NewHand(), search.MaxPly, 12)
	greedy := search.NewGreedy(blocking.Game, blockingbot.NewHand())
	for seed := range uint64(40) {
		s, prev := blocking.Game.New(2), blocking.Game.New(2)
		for s.Reset(seed); s.Acting() != 0; {
			prev.CopyFrom(s)
			seat := s.Acting().First()
			s.Step(env.Alone(seat, choice(t.Context(), greedy, s, seat)))
		}
		seat := prev.Acting().First()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		choice(ctx, m, prev, seat)
		cancel()
		if s.Result(seat) > 0 {
			require.Greater(t, m.Value(), search.Limit)
			won++
		}
	}
	require.Greater(t, won, 5)
}

func TestMinimaxAllocatesNothing(t *testing.T) {
	s, view := tetrisduel.Game.New(2), tetrisduel.Game.New(2)
	s.Reset(1)
	m := search.NewMinimax(tetrisduel.Game, tetrisduelbot.NewHand(), 3, 4)
	require.Zero(t, testing.AllocsPerRun(20, func() {
		view.CopyFrom(s)
		_, _ = m.Act(context.Background(), view, 0)
	}))
}
