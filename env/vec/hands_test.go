package vec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// handsGame is toy.Pick in which each seat also holds a number that only it sees.
var handsGame = like("toy:hands", func(s toy.State) env.State { return &hands{State: s} })

// like is toy.Pick with states of another type.
func like(name string, wrap func(toy.State) env.State) *env.Game {
	g := *toy.Pick
	g.Name = name
	g.New = func(n int) env.State {
		s := wrap(*toy.Pick.New(n).(*toy.State))
		s.Reset(0)
		return s
	}
	return &g
}

type hands struct {
	toy.State
	Hand [2]uint8 // 1 … 3
}

func (s *hands) Reset(seed uint64) {
	s.State.Reset(seed)
	s.deal(0, env.Derive(seed, 1))
}

func (s *hands) deal(except env.Seats, seed uint64) {
	for seat := range s.Hand {
		if !except.Has(seat) {
			s.Hand[seat] = 1 + uint8(env.Derive(seed, uint64(seat))%3)
		}
	}
}

func (s *hands) Hide(viewers env.Seats, seed uint64) {
	s.State.Hide(viewers, seed)
	s.deal(viewers, seed)
}

func (s *hands) CopyFrom(src env.State) { *s = *src.(*hands) }

func (s *hands) Observe(seat int, planes []uint8, globals []float32) {
	s.State.Observe(seat, planes, globals)
	planes[5] = s.Hand[seat]
}

// Reseed keeps what a driven seat holds and redraws what only an agent holds. Later episodes and random choices are
// those of a Reset with the same seed.
func TestReseedKeepsPrivateHands(t *testing.T) {
	for driven, agents := range map[env.Seats][]vec.AgentFactory{3: nil, 1: {nil, newDie}, 2: {newDie}} {
		e, out, _ := start(t, handsGame, vec.Config{Envs: 60, Agents: agents})
		fresh := positions(e) // by the seeds from 1 on
		for i := range 60 {
			require.NoError(t, e.CloneAll([]int{i}, []int{0}))
			if i > 0 {
				require.NoError(t, e.Reseed(i, uint64(i)))
				require.Equal(t, fresh[i-1][:24], envtest.Must(e.Snapshot(i, nil))[:24], "seed, episode and random choices")
			}
		}
		require.NoError(t, e.Observe(out))
		size := e.Rows() * e.Game().Planes.Len()
		seen, next := [2]map[uint8]bool{{}, {}}, map[uint8]bool{}
		for i := range 60 {
			require.Equal(t, out.Planes[:size], out.Planes[i*size:(i+1)*size], "seats %b: environment %d", driven, i)
			s := e.State(i).(*hands)
			next[s.State.Next] = true
			for seat, held := range s.Hand {
				seen[seat][held] = true
			}
		}
		require.Len(t, next, 3, "seats %b: the next card is hidden from everybody", driven)
		for seat := range seen {
			require.Equal(t, driven.Has(seat), len(seen[seat]) == 1, "seats %b: seat %d: %v", driven, seat, seen[seat])
		}
	}
}
