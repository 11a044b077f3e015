package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/tetrisduel"
)

// margin is an evaluator of the toy games: own points and the lead over the others, plus a
// small hash of the position so that actions differ.
type margin struct{}

func (margin) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		t := s.(*toy.State)
		word := uint64(seat)
		for k, p := range t.Points {
			word = env.Mix(word ^ uint64(p)<<uint(8*k))
		}
		out[i] = 3*float32(t.Points[seat]) - float32(t.Points[0]+t.Points[1]+t.Points[2]) + float32(word%16)/4
	}
}

// afterReply is the reference: the value of action a of seat in s after the next seat's reply.
func afterReply(s env.State, seat int, a env.Action) float32 {
	value := func(s env.State, who, ply int) float32 {
		if s.Acting() == 0 {
			return s.Result(who) * (Win - float32(ply))
		}
		var out [1]float32
		margin{}.Evaluate([]env.State{s}, who, out[:])
		return out[0]
	}
	mid := copyOf(toy.Turns, s)
	mid.Force(zeros[:])
	mid.Step(env.Alone(seat, a))
	if mid.Acting() == 0 {
		return value(mid, seat, 1)
	}
	mover := mid.Acting().First()
	var most, mine float32
	for i, b := range mid.Legal(mover, nil) {
		end := copyOf(toy.Turns, mid)
		end.Force(zeros[:])
		end.Step(env.Alone(mover, b))
		if v := value(end, mover, 2); i == 0 || v > most {
			most, mine = v, value(end, seat, 2)
		}
	}
	return mine
}

// Of width one, it plays the best action at one ply.
func TestReplyPlaysWhatTheExhaustiveOnePlays(t *testing.T) {
	reply, one := NewReply(toy.Turns, margin{}, 3), NewReply(toy.Turns, margin{}, 1)
	greedy, random := NewGreedy(toy.Turns, margin{}), NewRandom(5)
	play := func(a env.Agent, s env.State, seat int) env.Action { return envtest.Must(a.Act(t.Context(), s, seat)) }
	ended, differs := 0, 0
	for seed := range uint64(200) {
		s, view := toy.Turns.New(3), toy.Turns.New(3)
		s.Reset(seed)
		for s.Acting() != 0 {
			seat := s.Acting().First()
			env.View(view, s, seat, seed)
			want, best := env.None, float32(0)
			for _, a := range view.Legal(seat, nil) {
				if v := afterReply(view, seat, a); want == env.None || v > best {
					want, best = a, v
				}
			}
			simple := play(greedy, copyOf(toy.Turns, view), seat)
			require.Equal(t, simple, play(one, copyOf(toy.Turns, view), seat))
			got := play(reply, view, seat)
			require.Equal(t, want, got, "seed %d: %+v", seed, view)
			require.InDelta(t, best, reply.Value(), 1e-3)
			if best < -Limit || best > Limit {
				ended++
			}
			if simple != got {
				differs++
			}
			s.Step(env.Alone(seat, play(random, s, seat)))
		}
	}
	require.Greater(t, ended, 50)
	require.Greater(t, differs, 50, "the reply never mattered")
}

func TestNewPicksTheSearchThatFitsTheGame(t *testing.T) {
	for _, c := range []struct {
		game    *env.Game
		options Options
		want    env.Agent
		err     string
	}{
		{toy.Pick, Options{}, &TwoPly{}, ""},
		{toy.Pick, Options{Ply: 1}, &Greedy{}, ""},
		{toy.Turns, Options{}, &Reply{}, ""},
		{toy.Turns, Options{Ply: 1}, &Greedy{}, ""},
		{toy.Pick, Options{Ply: 3, Outcomes: 3}, &Expectimax{}, ""},
		{toy.Pick, Options{Ply: 3}, nil, "toy:pick has no third ply"},
		{toy.Turns, Options{Ply: 3, Outcomes: 3}, &Minimax{}, ""},
		{toy.Pick, Options{Ply: 4, Outcomes: 3}, &Expectimax{}, ""},
		{toy.Pick, Options{Ply: 5, Outcomes: 3}, nil, "ply 5, want 1 to 4"},
		{tetrisduel.Game, Options{Ply: 3}, &Minimax{}, ""},
		{tetrisduel.Game, Options{Ply: MaxPly}, &Minimax{}, ""},
		{tetrisduel.Game, Options{Ply: MaxPly + 1}, nil, "ply 17, want 1 to 4"},
		{toy.Pick, Options{Ply: -1}, nil, "ply -1"},
		{toy.Pick, Options{Width: -2}, nil, "width -2, want at least 1"},
		{toy.Pick, Options{Ply: 1, Guard: lottery{2}}, nil, "a guard is for two plies or more"},
		{toy.Turns, Options{Guard: lottery{2}}, nil, "in which seats act at once"},
	} {
		a, err := New(c.game, margin{}, c.options)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.IsType(t, c.want, a)
	}
}

func TestTwoPlyRefusesAGameOfTurns(t *testing.T) {
	act := NewTwoPly(toy.Turns, margin{}).Act
	require.ErrorContains(t, envtest.Failed(act(t.Context(), toy.Turns.New(3), 0)), "toy:turns: seats take turns")
}
