package vec_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/tetrisduel"
	"blockyard/env/vec"
)

// A thinker chooses by the position alone, as a search does, and counts how often it is asked.
type thinker struct{ asked *atomic.Int64 }

func (a thinker) Act(_ context.Context, s env.State, seat int) (env.Action, error) {
	a.asked.Add(1)
	legal := s.Legal(seat, nil)
	return legal[(7*s.Score(seat)+3)%len(legal)], nil
}

func (a thinker) AppendMemory(dst []byte) ([]byte, error) { return dst, nil }
func (a thinker) RestoreMemory([]byte) error              { return nil }

// middle answers for seats that are asked.
var middle = thinker{new(atomic.Int64)}

func newMiddle(uint64) (env.Agent, error) { return middle, nil }

// answerAll answers all asked seats of some environments as middle plays, and returns how many there were.
func answerAll(t testing.TB, e *vec.Env, envs ...uint32) (n int) {
	var answers []vec.Answer
	for _, i := range envs {
		for set := e.Asked(int(i)); set != 0; set = set.Rest() {
			a := envtest.Must(middle.Act(t.Context(), e.State(int(i)), set.First()))
			answers = append(answers, vec.Answer{Env: int(i), Seat: set.First(), Action: a})
		}
	}
	require.NoError(t, e.Answer(answers))
	return len(answers)
}

// completed answers until no environment waits, and what the next step needs.
func completed(t testing.TB, e *vec.Env, actions []env.Action, out *vec.Batch) (asked int) {
	all, waits := numbers(e.Config().Envs), func(i uint32) bool { return e.Waits(int(i)) }
	for asked = answerAll(t, e, all...); slices.ContainsFunc(all, waits); {
		require.NoError(t, e.Step(actions, out))
		asked += answerAll(t, e, all...)
	}
	return asked
}

// askedSeats calls do with configurations in which the caller is asked for seats, always or in some episodes.
func askedSeats(t *testing.T, do func(t *testing.T, g *env.Game, c vec.Config)) {
	for _, c := range []struct {
		g      *env.Game
		seats  int
		others []int
	}{
		{toy.Pick, 2, []int{1}}, {toy.Turns, 3, []int{0}}, {toy.Turns, 3, []int{1, 2}}, {blockbattle.Game, 2, []int{1}},
		{tetrisduel.Game, 2, []int{0}}, {blocking.Game, 3, []int{0, 2}}, {blocking.Game, 4, []int{0, 2, 3}}, {blocking.Game, 4, []int{1, 3}},
	} {
		for _, rows := range []vec.RowForm{vec.SeatRows, vec.ActingRows} {
			for _, mode := range []vec.Autoreset{vec.NextStep, vec.SameStep} {
				for _, share := range []float64{0, 1} { // of episodes with an agent beside
					asked := vec.Config{Envs: 5, Seats: c.seats, Rows: rows, Autoreset: mode, StepLimit: 13, Workers: 3,
						Reward: vec.RewardScore, Mixtures: make([]vec.Mixture, c.seats)}
					if share > 0 {
						asked.StepLimit, asked.Reward = 0, vec.RewardResult
					}
					for _, seat := range c.others {
						asked.Mixtures[seat] = vec.Mixture{{nil, 1, 0}, {newMiddle, 0.01 + share, 1}}
					}
					name := fmt.Sprintf("%s/%d/%v/%v/%v", c.g.Name, c.others, rows, mode, share)
					t.Run(name, func(t *testing.T) { do(t, c.g, asked) })
				}
			}
		}
	}
}

// drive plays n steps in which seats are asked, and returns what they wrote.
func drive(t *testing.T, e *vec.Env, n int) (out *vec.Batch) {
	out, actions := everything(t, e), make([]env.Action, e.Config().Envs*e.Rows())
	for range n {
		completed(t, e, actions, out)
		play(t, 1, e, actions, out)
	}
	completed(t, e, actions, out)
	return out
}

// A snapshot of any Env can be restored in any other of the game with as many seats, and the game goes on.
func TestSnapshotsAcross(t *testing.T) {
	for _, g := range []*env.Game{blockbattle.Game, tetrisduel.Game, toy.Turns} {
		var all []*vec.Env
		for _, mixtures := range [][]vec.Mixture{
			nil, {nil, {{newMiddle, 1, 0}}}, {nil, {{nil, 1, 0}}}, {nil, {{nil, 1, 0}, {newMiddle, 1, 1}}}, {{{nil, 1, 3}}, nil},
		} {
			for _, rows := range []vec.RowForm{vec.SeatRows, vec.ActingRows} {
				for _, mode := range []vec.Autoreset{vec.NextStep, vec.SameStep} {
					e, _, _ := start(t, g, vec.Config{Envs: 3, Mixtures: mixtures, Rows: rows, Autoreset: mode, StepLimit: 30})
					drive(t, e, 47)
					all = append(all, e)
				}
			}
		}
		for a, from := range all {
			for b, to := range all {
				snap := envtest.Must(from.Snapshot(b%3, nil))
				require.NoError(t, to.Restore(1, snap), "%s: %d to %d", g.Name, a, b)
				now := envtest.Must(to.Snapshot(1, nil))
				if to.Waits(1) || to.Driven() == from.Driven() {
					require.Equal(t, snap[:16], now[:16])
					require.Equal(t, snap[24:32], now[24:32])
					require.Equal(t, from.State(b%3), to.State(1))
				}
				drive(t, to, 5)
			}
		}
	}
}

// Wrong answers are refused whole, and a step as long as answers are missing.
func TestAnswersRefused(t *testing.T) {
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 2, Mixtures: []vec.Mixture{nil, {{nil, 1, 0}}}})
	legal, other := e.State(0).Legal(1, nil)[0], e.State(1).Legal(1, nil)[0]
	var at *vec.EnvError
	require.ErrorAs(t, e.Step(actions, out), &at)
	require.ErrorIs(t, at, vec.ErrAsked)
	require.Equal(t, []int{0, 1}, at.Envs)
	require.ErrorContains(t, at, "has seats that are asked: answer first (and 1 more environments)")
	for says, answers := range map[string][]vec.Answer{
		"seat 0 of environment 0 is not asked":         {{0, 1, legal}, {0, 0, legal}},
		"seat 2 of environment 1 is not asked":         {{1, 2, legal}},
		"environment 2 of 2":                           {{2, 1, legal}},
		"seat 1 of environment 0 is answered twice":    {{0, 1, legal}, {1, 1, other}, {0, 1, legal}},
		"environment 1, asked seat 1: illegal action":  {{0, 1, legal}, {1, 1, 999}},
		"environment -1 of 2":                          {{-1, 1, legal}},
		"seat -1 of environment 0 is not asked":        {{0, -1, legal}},
		"environment 0, asked seat 1: illegal action:": {{0, 1, 999}},
	} {
		require.ErrorContains(t, e.Answer(answers), says)
		require.Equal(t, env.Seats(2), e.Asked(0))
		require.Equal(t, env.Seats(2), e.Asked(1))
	}
	require.ErrorAs(t, e.Answer([]vec.Answer{{0, 1, legal}, {1, 1, 999}}), &at)
	require.ErrorIs(t, at, env.ErrIllegal)
	require.Equal(t, 1, at.Row)
	require.NoError(t, e.Answer([]vec.Answer{{1, 1, other}, {0, 1, env.None}}))
	actions[0], actions[1] = e.Legal(0, 0, nil)[0], e.Legal(1, 0, nil)[0]
	require.NoError(t, e.Step(actions, out))
}

func placeOf(e *vec.Env, i int) vec.Place {
	_, place := e.Curriculum(i)
	return place
}

// A curriculum is kept by one that is the same, and its places can be set. The twin judges how environments climb.
func TestCurriculum(t *testing.T) {
	ladder := vec.Mixture{{newDie, 1, 10}, {newDie, 1, 11}, {newDie, 1, 12}}
	c := vec.Config{Envs: 40, Mixtures: []vec.Mixture{nil, ladder}, Autoreset: vec.SameStep,
		Curriculum: &vec.Curriculum{Of: 4, Up: 0.6, Down: 0.4}}
	e, _, _ := start(t, toy.Pick, c)
	future(t, e, 400)
	seen := map[int]bool{}
	for i := range c.Envs {
		seen[placeOf(e, i).Rung] = true
	}
	require.Len(t, seen, 3)
	was, place := placeOf(e, 7), vec.Place{Rung: 2, Last: []uint8{2, 0}}
	require.NoError(t, e.SetMixtures(c.Mixtures, &vec.Curriculum{Of: 4, Up: 0.6, Down: 0.4}))
	require.Equal(t, was, placeOf(e, 7), "the same curriculum")
	require.NoError(t, e.SetPlace(7, place))
	require.Equal(t, place, placeOf(e, 7))
	for _, p := range []vec.Place{{Rung: 3}, {Rung: -1}, {Last: []uint8{3}}, {Last: make([]uint8, 5)}} {
		require.ErrorContains(t, e.SetPlace(7, p), "want less than 3 and up to 4")
	}
	require.NoError(t, e.SetMixtures(only(newDie, 5), nil))
	require.ErrorContains(t, e.SetPlace(7, vec.Place{}), "no curriculum")
	require.ErrorContains(t, e.SetMixtures(c.Mixtures, &vec.Curriculum{Of: 0}), "want 1 to 1000")
	require.ErrorContains(t, e.SetMixtures(c.Mixtures, &vec.Curriculum{Of: 1, Up: 0.3, Down: 0.4}), "down at most up")
}

func TestAskedStepsAllocateNothing(t *testing.T) {
	e, out, actions := start(t, blockbattle.Game, vec.Config{Envs: 8, Workers: 1, Autoreset: vec.SameStep,
		Mixtures: []vec.Mixture{nil, {{nil, 1, 0}}}})
	answers, legal := make([]vec.Answer, 8), make([]env.Action, 0, blockbattle.Game.MaxLegal)
	allocatesNothing(t, func() error {
		for i := range answers {
			legal = e.State(i).Legal(1, legal[:0])
			answers[i] = vec.Answer{Env: i, Seat: 1, Action: legal[0]}
			actions[i] = e.Legal(i, 0, legal[:0])[0]
		}
		return cmp.Or(e.Answer(answers), e.Step(actions, out))
	})
}

// only is the mixtures of two seats, the second of which has one agent.
func only(agent vec.AgentFactory, id uint16) []vec.Mixture {
	return []vec.Mixture{nil, {{agent, 1, id}}}
}

// Games in progress keep their agents; those that start later play as if they never had others.
func TestSetMixtures(t *testing.T) {
	var n counts
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 1, Mixtures: only(n.agent, 0)})
	f, _, _ := start(t, toy.Pick, vec.Config{Envs: 3, Workers: 1, Mixtures: only(newDie, 5)})
	require.NoError(t, e.SetMixtures(only(newDie, 5), nil))
	play(t, 1, e, actions, out)
	require.Equal(t, 3, n.acts)
	require.Equal(t, []uint16{vec.NoOpponent, 0, vec.NoOpponent, 0, vec.NoOpponent, 0}, out.Opponent)
	require.NoError(t, e.Reseed(1, 3))
	require.NoError(t, e.CloneAll([]int{0}, []int{2}))
	require.Zero(t, e.Opponent(0, 1), "the same opponent in the same episode")
	require.Zero(t, n.closes)
	require.NoError(t, e.Reset(vec.From(5), nil, out))
	require.NoError(t, f.Reset(vec.From(5), nil, out))
	require.Equal(t, 3, n.closes)
	require.Equal(t, future(t, f, 50), future(t, e, 50))
	require.Equal(t, 3, n.acts)
}

func TestMixturesRefused(t *testing.T) {
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 1, Mixtures: only(newDie, 0)})
	for says, m := range map[string]vec.Mixture{
		"seat 1: entry 2 has weight 0, want a finite number above 0": {{newDie, 1, 0}, {newDie, 0, 1}},
		"seat 1: entry 1 has weight -1":                              {{newDie, -1, 0}},
		"seat 1: entry 1 has weight NaN":                             {{newDie, math.NaN(), 0}},
		"seat 1: entry 1 has weight +Inf":                            {{newDie, math.Inf(1), 0}},
		"seat 1: the weights up to entry 2 have no finite sum":       {{newDie, 1e308, 0}, {newDie, 1e308, 0}},
		"seat 1: entry 1 has ID 65535, want less":                    {{newDie, 1, vec.NoOpponent}},
	} {
		_, err := vec.New(toy.Pick, vec.Config{Envs: 1, Mixtures: []vec.Mixture{nil, m}})
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, e.SetMixtures([]vec.Mixture{nil, m}, nil), says)
	}
	for _, m := range [][]vec.Mixture{{nil, nil}, {{{newDie, 1, 0}}, {{newDie, 1, 0}}}} {
		require.ErrorContains(t, e.SetMixtures(m, nil), "want agents exactly for the seats that have them already")
	}
}
