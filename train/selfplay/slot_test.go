package selfplay

import (
	"context"
	"sync/atomic"
	"testing"

	"blockyard/env"
	"blockyard/env/envtest"
	task "blockyard/train/games"

	"github.com/stretchr/testify/require"
)

// A quitter is a policy that cancels a context at one of its choices.
type quitter struct {
	stubPolicy
	chosen, left atomic.Int64
	canceled     <-chan struct{}
	cancel       context.CancelFunc
}

func (q *quitter) Choose(slot *Slot, seat int) env.Action {
	q.chosen.Add(1)
	switch left := q.left.Add(-1); {
	case left == 0:
		q.cancel()
	case left < 0: // the others wait for that, however the machine schedules them
		<-q.canceled
	}
	return q.stubPolicy.Choose(slot, seat)
}

// A rollout whose context ends makes only the choices of the steps that have begun, and the slots stand where they
// stood.
func TestARolloutHearsItsContext(t *testing.T) {
	s := newStub(Options{Seed: 1, Games: 20, Iterations: 5, Gates: 1}, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	q := &quitter{cancel: cancel, canceled: ctx.Done()}
	q.left.Store(100)
	s.policy = q
	r := s.start()
	before := stands(r)
	require.NoError(t, r.Go(ctx, func(bool) error { t.Fatal("a rollout cut short counts for nothing"); return nil }))
	require.LessOrEqual(t, q.chosen.Load(), int64(100+3*env.MaxSeats))
	require.Equal(t, before, stands(r))
	require.Zero(t, r.Counts.Moves)
}

// Every opponent has its share of the games, and one seat in each of them, either one.
func TestOpponentsShareTheGames(t *testing.T) {
	const games, share = 20000, .5
	s := newSlot(task.BlockBattle, []string{"combo", "hand", "digger"}, 0)
	s.Rand.Seed(4)
	var counts [4][2]int // by opponent and seat
	for range games {
		s.start(&Rollout{Versus: share})
		require.True(t, s.Opponent[0] == 0 || s.Opponent[1] == 0, "the learner has a seat")
		require.Zero(t, s.Opponent[2])
		for seat, k := range s.Opponent[:2] {
			counts[k][seat]++
		}
	}
	for _, seats := range counts[1:] {
		for _, n := range seats {
			require.InDelta(t, games*share/6, n, 200)
		}
	}
	s.start(&Rollout{Versus: 1, Baseline: true})
	require.Zero(t, s.Opponent, "the baseline has all seats of the warm start")
}

// With one opponent, named or not, a game draws what it drew before there were several.
func TestOneOpponentDrawsNothing(t *testing.T) {
	for _, o := range []Options{{}, {Opponents: []string{"combo"}}} {
		s, twin := newSlot(task.BlockBattle, o.OpponentNames(), 0), env.Rand{}
		s.Rand.Seed(5)
		twin.Seed(5)
		for range 100 {
			s.start(&Rollout{Versus: .5})
			want := [env.MaxSeats]uint8{}
			twin.Next() // the seed of the game
			if float64(twin.Next()>>11)*(1./(1<<53)) < .5 {
				want[twin.Next()%2] = 1
			}
			require.Equal(t, want, s.Opponent)
			require.Equal(t, twin.Word, s.Rand.Word)
		}
	}
}

// A slot is restored with its opponents, and refused if the run has not so many.
func TestSlotsKeepTheirOpponents(t *testing.T) {
	s := newSlot(task.BlockBattle, []string{"combo", "hand", "digger"}, 0)
	s.start(&Rollout{})
	s.Opponent[1] = 3
	saved := envtest.Must(s.Save())
	again := newSlot(task.BlockBattle, s.opponents, 0)
	require.NoError(t, again.restore(saved))
	require.Equal(t, s.Opponent, again.Opponent)
	require.Equal(t, s.Opponent, s.clone().Opponent)
	saved.Opponent = nil // as in states of runs without any
	require.NoError(t, again.restore(saved))
	require.Zero(t, again.Opponent)

	saved.Opponent = []uint8{0, 4}
	require.ErrorContains(t, again.restore(saved), "seat 1 is played by opponent 4, want 0 to 3")
	saved.Opponent = []uint8{2, 0}
	baseline := newSlot(task.BlockBattle, (&Options{}).OpponentNames(), 0)
	require.ErrorContains(t, baseline.restore(saved), "want 0 to 1: the run has the opponents hand")
}

func stands(r *Run) (all []GameSlot) {
	for _, s := range r.Slots {
		all = append(all, envtest.Must(s.Save()))
	}
	return all
}
