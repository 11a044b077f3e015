package search_test

import (
	"context"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/search"
	"blockyard/agents/tetrisduelbot"
	"blockyard/env"
	"blockyard/env/tetrisduel"
)

// looked is the judge: what seat's choices in s are worth when ply choices are looked
// ahead, the best width of each position gone into and nothing left out.
func looked(e search.Evaluator, s env.State, seat, ply, width, from int) (legal []env.Action, worth []float32) {
	legal = s.Legal(seat, nil)
	worth = make([]float32, len(legal))
	states := make([]env.State, len(legal))
	var live []int
	for i, a := range legal {
		states[i] = tetrisduel.Game.New(2)
		states[i].CopyFrom(s)
		states[i].After(seat, a)
		if states[i].Acting() == 0 {
			if r := states[i].Result(seat); r != 0 {
				worth[i] = r * (search.Win - float32(from+1))
			}
			continue
		}
		e.Evaluate(states[i:i+1], seat, worth[i:i+1])
		live = append(live, i)
	}
	if ply == 1 {
		return legal, worth
	}
	sort.SliceStable(live, func(i, j int) bool { return worth[live[i]] > worth[live[j]] })
	for n, i := range live {
		if n >= width {
			worth[i] = -2 * search.Win
			continue
		}
		mover := states[i].Acting().First()
		replies, w := looked(e, states[i], mover, ply-1, width, from+1)
		if len(replies) == 0 {
			worth[i] = search.Win - float32(from+2)
			continue
		}
		best := w[0]
		for _, v := range w {
			best = max(best, v)
		}
		worth[i] = -best
	}
	return legal, worth
}

// Leaving out what cannot matter changes neither the choice nor its worth.
func TestMinimaxIsTheExhaustiveOne(t *testing.T) {
	ended := 0
	for _, c := range []struct{ ply, width, positions int }{{1, 4, 300}, {2, 5, 60}, {3, 4, 40}, {4, 3, 25}} {
		m := search.NewMinimax(tetrisduel.Game, tetrisduelbot.NewHand(), c.ply, c.width)
		random, hand := search.NewRandom(3), tetrisduelbot.NewHand()
		s, deeper := tetrisduel.Game.New(2), 0
		s.Reset(uint64(c.ply))
		for n := 0; n < c.positions; {
			if s.Acting() == 0 {
				s.Reset(uint64(100*c.ply + n))
				ended++
			}
			seat := s.Acting().First()
			if n++; n%2 == 0 || s.(*tetrisduel.State).Turn > 20 {
				again := tetrisduel.Game.New(2)
				again.CopyFrom(s)
				legal, worth := looked(hand, again, seat, c.ply, c.width, 0)
				best := 0
				for i := range legal {
					if worth[i] > worth[best] {
						best = i
					}
				}
				got, err := m.Act(context.Background(), again, seat)
				require.NoError(t, err)
				require.Equal(t, legal[best], got)
				require.Equal(t, worth[best], m.Value())
				deeper++
			}
			a, err := random.Act(context.Background(), s, seat)
			require.NoError(t, err)
			s.Step(env.Alone(seat, a))
		}
		require.Greater(t, deeper, 10)
	}
	require.Positive(t, ended, "no game went to its end")
}

// Out of time it still answers, with what one ply likes best at the worst.
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

func TestMinimaxAllocatesNothing(t *testing.T) {
	s, view := tetrisduel.Game.New(2), tetrisduel.Game.New(2)
	s.Reset(1)
	m := search.NewMinimax(tetrisduel.Game, tetrisduelbot.NewHand(), 3, 4)
	require.Zero(t, testing.AllocsPerRun(20, func() {
		view.CopyFrom(s)
		_, _ = m.Act(context.Background(), view, 0)
	}))
}
