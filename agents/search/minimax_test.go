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
		env.After(states[i], seat, a)
		if states[i].Acting() == 0 {
			if r := states[i].Result(seat); r != 0 {
				values[i] = r * (search.Win - float32(from+1))
			}
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
		best := w[0]
		for _, v := range w {
			best = max(best, v)
		}
		if values[i] = -best; mover == seat {
			values[i] = best
		}
	}
	return legal, values
}

// table is a game of two seats, with its hand-tuned evaluator.
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

// Alpha-beta changes neither the action nor its value.
func TestMinimaxIsTheExhaustiveOne(t *testing.T) {
	for _, c := range []struct {
		table
		ply, width, positions int
	}{{duel, 1, 4, 300}, {duel, 2, 5, 60}, {duel, 3, 4, 40}, {duel, 4, 3, 25}, {blocks, 3, 4, 60}, {blocks, 4, 3, 60}} {
		g, m := c.game, search.NewMinimax(c.game, c.eval(), c.ply, c.width)
		random, baseline := search.NewRandom(3), c.eval()
		s, deeper, ended := g.New(2), 0, 0
		s.Reset(uint64(c.ply))
		for n := 0; n < c.positions; {
			if s.Acting() == 0 {
				s.Reset(uint64(100*c.ply + n))
				ended++
			}
			seat := s.Acting().First()
			if n++; n%2 == 0 || c.late(s) {
				again := g.New(2)
				again.CopyFrom(s)
				legal, values := exhaustive(g, baseline, again, seat, c.ply, c.width, 0)
				best := 0
				for i := range legal {
					if values[i] > values[best] {
						best = i
					}
				}
				got, err := m.Act(context.Background(), again, seat)
				require.NoError(t, err)
				require.Equal(t, legal[best], got)
				require.Equal(t, values[best], m.Value())
				deeper++
			}
			a, err := random.Act(context.Background(), s, seat)
			require.NoError(t, err)
			s.Step(env.Alone(seat, a))
		}
		require.Greater(t, deeper, 10)
		require.True(t, ended > 0 || c.positions < 60, "no game went to its end")
	}
}

// If more than two play, Minimax is Reply.
func TestMinimaxOfManySeatsIsReply(t *testing.T) {
	m := search.NewMinimax(blocking.Game, blockingbot.NewHand(), 4, 5)
	r := search.NewReply(blocking.Game, blockingbot.NewHand(), 5)
	s := blocking.Game.New(3)
	s.Reset(4)
	for n := 0; n < 30 && s.Acting() != 0; n++ {
		seat := s.Acting().First()
		want, err := r.Act(context.Background(), s, seat)
		require.NoError(t, err)
		got, err := m.Act(context.Background(), s, seat)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, r.Value(), m.Value())
		s.Step(env.Alone(seat, got))
	}
}

// Without any time left, Minimax plays the best action at one ply.
func TestMinimaxOutOfTimeAnswers(t *testing.T) {
	s := tetrisduel.Game.New(2)
	s.Reset(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	want, err := search.NewGreedy(tetrisduel.Game, tetrisduelbot.NewHand()).Act(context.Background(), s, 0)
	require.NoError(t, err)
	got, err := search.NewMinimax(tetrisduel.Game, tetrisduelbot.NewHand(), 5, 6).Act(ctx, s, 0)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// With enough time, iterative deepening ends with the same action and value as the search
// without a deadline. With too little, it still plays a legal action.
func TestMinimaxAgainstTheClock(t *testing.T) {
	whole := search.NewMinimax(tetrisduel.Game, tetrisduelbot.NewHand(), 4, 5)
	timed := search.NewMinimax(tetrisduel.Game, tetrisduelbot.NewHand(), 4, 5)
	random := search.NewRandom(8)
	s := tetrisduel.Game.New(2)
	s.Reset(6)
	for n := 0; n < 40 && s.Acting() != 0; n++ {
		seat := s.Acting().First()
		want, err := whole.Act(context.Background(), s, seat)
		require.NoError(t, err)
		long, cancel := context.WithTimeout(context.Background(), time.Hour)
		got, err := timed.Act(long, s, seat)
		cancel()
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, whole.Value(), timed.Value())
		short, cancel := context.WithTimeout(context.Background(), time.Duration(n)*50*time.Microsecond)
		got, err = timed.Act(short, s, seat)
		cancel()
		require.NoError(t, err)
		require.Contains(t, s.Legal(seat, nil), got)
		a, err := random.Act(context.Background(), s, seat)
		require.NoError(t, err)
		s.Step(env.Alone(seat, a))
	}
}

// A quick search plays one of the best actions at one ply, at a value that it has found, whenever its time ends.
func TestQuickMinimaxPlaysWhatItHasSearched(t *testing.T) {
	const width = 3
	for _, c := range []table{duel, blocks} {
		e := &until{Evaluator: c.eval()}
		m := search.NewMinimax(c.game, e, search.MaxPly, width)
		s, n, acted := c.game.New(2), 0, env.None
		for s.Reset(3); n < 60; n++ {
			if s.Acting() == 0 {
				s.Reset(uint64(n))
			}
			seat := s.Acting().First()
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			e.left, e.end = 3*n*n, cancel
			got, err := m.Act(ctx, s, seat)
			cancel()
			require.NoError(t, err)
			legal, values := exhaustive(c.game, c.eval(), s, seat, 1, width, 0)
			better := 0
			for i, a := range legal {
				if a == got {
					acted = a
					for k, v := range values {
						if v > values[i] || v == values[i] && k < i {
							better++
						}
					}
				}
			}
			require.Equal(t, got, acted, "not legal")
			require.Less(t, better, width)
			require.Greater(t, m.Value(), -2*search.Win)
			if n%4 == 3 {
				got = legal[n%len(legal)]
			}
			s.Step(env.Alone(seat, got))
		}
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
	for seed := range uint64(40) {
		s, prev := blocking.Game.New(2), blocking.Game.New(2)
		s.Reset(seed)
		greedy := search.NewGreedy(blocking.Game, blockingbot.NewHand())
		for s.Acting() != 0 {
			prev.CopyFrom(s)
			a, err := greedy.Act(context.Background(), s, s.Acting().First())
			require.NoError(t, err)
			s.Step(env.Alone(s.Acting().First(), a))
		}
		seat := prev.Acting().First()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_, err := m.Act(ctx, prev, seat)
		cancel()
		require.NoError(t, err)
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
