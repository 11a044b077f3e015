package vec_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/env/wintetris"
)

// future plays n steps by the environments' own choices and returns all they wrote.
func future(t *testing.T, e *vec.Env, n int) (all []vec.Batch) {
	actions := make([]env.Action, e.Config().Envs*e.Rows())
	for range n {
		out := envtest.Must(e.NewBatch())
		play(t, 1, e, actions, out)
		all = append(all, *out)
	}
	return all
}

func TestRestoreRefuses(t *testing.T) {
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 2})
	snap := envtest.Must(e.Snapshot(0, []byte("head")))[4:]
	before, last := positions(e), len(snap)-1
	refused := func(i int, snap []byte, says string) {
		require.ErrorContains(t, e.Restore(i, snap), says)
		require.Equal(t, before, positions(e))
	}
	refused(2, snap, "environment 2 of 2")
	refused(-1, snap, "environment -1 of 2")
	refused(1, nil, "snapshot of 0 bytes, want")
	refused(1, append(slices.Clone(snap), 0), "bytes, want")
	for says, edit := range map[string]struct {
		at int
		to byte
	}{
		"unknown flags 04 00 00 00":          {28, 4},
		"unknown flags 02 00 00 01":          {31, 1},
		"seat 2 in row 0, want both below 2": {32, 2},
		"seat 1 in row 2, want both below 2": {34, 1},
		"Last[3] is 255, want 0 to 3":        {last, 255},
	} {
		bad := slices.Clone(snap)
		bad[edit.at] = edit.to
		refused(1, bad, says)
	}
}

func FuzzRestore(f *testing.F) {
	e, _, _ := start(f, toy.Turns, vec.Config{Envs: 1, Agents: []vec.AgentFactory{newDie}})
	f.Add(envtest.Must(e.Snapshot(0, nil)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if e.Restore(0, data) == nil && e.Live(0) { // otherwise it awaits its reset
			future(t, e, 3)
		}
	})
}

// Copies to any environments from any others, in chains and cycles too, leave each what its source was before, with
// the same opponents.
func TestCloneAllAtOnce(t *testing.T) {
	const n = 12
	rng := rand.New(rand.NewPCG(1, 2))
	mixtures := []vec.Mixture{nil, {{newDie, 1, 0}, {newLow, 1, 1}}}
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: n, Mixtures: mixtures})
	all := func() []string {
		all := make([]string, n)
		for i, snap := range positions(e) {
			all[i] = fmt.Sprint(e.Opponent(i, 1), snap)
		}
		return all
	}
	for range 300 {
		future(t, e, 1)
		dst, src := rng.Perm(n), rng.Perm(n)
		if rng.IntN(3) > 0 {
			dst = dst[:rng.IntN(n+1)]
			src = src[:len(dst)]
			for k := range src {
				src[k] = rng.IntN(n)
			}
		}
		before, want := all(), all()
		for k, d := range dst {
			want[d] = before[src[k]]
		}
		require.NoError(t, e.CloneAll(dst, src))
		require.Equal(t, want, all(), "%v from %v", dst, src)
	}
	require.ErrorContains(t, e.CloneAll([]int{1, 1}, []int{2, 3}), "two environments to copy to 1")
	require.ErrorContains(t, e.CloneAll([]int{1}, nil), "0 environments to copy to 1")
	require.Error(t, e.CloneAll([]int{n}, []int{0}))
}

// Many environments exchanged at once keep aside one position, not one each.
func TestCloneAllKeepsOnePosition(t *testing.T) {
	const n = 500
	e, _, _ := start(t, blockbattle.Game, vec.Config{Envs: n, Workers: 1})
	dst, src := make([]int, n), make([]int, n)
	for i := range n {
		dst[i], src[i] = i, (i+1)%n
	}
	require.Less(t, testing.AllocsPerRun(3, func() { require.NoError(t, e.CloneAll(dst, src)) }), n/2.)
}

// put restores environment i with another position in its place.
func put(e *vec.Env, i int, s env.State) error {
	snap := envtest.Must(e.Snapshot(i, nil))
	return e.Restore(i, envtest.Must(env.Encode(snap[:len(snap)-env.EncodedLen(s)], s)))
}

func TestRestoreAnotherPosition(t *testing.T) {
	e, out, _ := start(t, toy.Turns, vec.Config{Envs: 2, Agents: []vec.AgentFactory{newDie}})
	s := toy.Turns.New(3).(*toy.State)
	require.NoError(t, put(e, 0, s))
	require.NotEqual(t, s, e.State(0), "seat 0's agent has moved")
	s.Step(env.Alone(0, s.Legal(0, nil)[0]))
	require.NoError(t, put(e, 1, s))
	require.Equal(t, s, e.State(1))
	require.NoError(t, e.Observe(out))
	require.Equal(t, []uint8{1, vec.NoSeat, 1, vec.NoSeat}, out.Seat)
}

// moved returns copies of the agents of environment i.
func moved(e *vec.Env, i int) []vec.Seated {
	all := make([]vec.Seated, e.Config().Seats)
	for seat := range all {
		all[seat] = e.Seated(i, seat)
		if d, ok := all[seat].Agent.(*die); ok {
			twin := *d
			all[seat].Agent = &twin
		}
	}
	return all
}

// An agent that has left its seat's mixture plays on to the end of its episode after Resume too.
func TestResumeKeepsLeavingAgents(t *testing.T) {
	other := func(seed uint64) (env.Agent, error) { return newDie(^seed) }
	both := []vec.Mixture{nil, {{newDie, 1, 0}, {other, 1, 1}}}
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 4, Mixtures: only(newDie, 0)})
	f, _, _ := start(t, toy.Pick, vec.Config{Envs: 4, Mixtures: both})
	for _, x := range []*vec.Env{e, f} {
		require.NoError(t, x.SetMixtures(only(other, 1), nil))
	}
	for i, snap := range positions(e) {
		require.NoError(t, f.Resume(i, snap, moved(e, i)))
		require.Zero(t, f.Opponent(i, 1))
		require.NoError(t, f.CloneAll([]int{i}, []int{i}))
	}
	require.Equal(t, future(t, e, 60), future(t, f, 60))
	require.Equal(t, uint16(1), f.Opponent(0, 1))
}

func TestResumeRefuses(t *testing.T) {
	var n counts
	e, _, _ := start(t, toy.Pick, vec.Config{Envs: 2, Agents: []vec.AgentFactory{nil, n.agent}})
	snaps, none := positions(e), vec.Seated{}
	some := vec.Seated{Agent: &die{}, Choice: vec.Choice{Agent: n.agent, ID: 1}}
	bad := slices.Clone(snaps[0])
	bad[28] = 0xff
	refused := func(i int, snap []byte, says string, agents ...vec.Seated) {
		require.ErrorContains(t, e.Resume(i, snap, agents), says)
		require.Equal(t, snaps, positions(e))
	}
	refused(2, snaps[0], "environment 2 of 2", none, some)
	refused(0, snaps[0][1:], "snapshot of", none, some)
	refused(0, bad, "unknown flags", none, some)
	refused(0, snaps[0], "1 agents to resume, want one for each of 2 seats", some)
	refused(0, snaps[0], "seat 1: want an agent for every seat that is not driven or asked", none, none)
	refused(0, snaps[0], "seat 0: want an agent", some, some)
	refused(0, snaps[0], "the agent has the ID 0, want less, and a factory", none, vec.Seated{Agent: &die{}})
	refused(0, snaps[0], "has the ID 65535", none,
		vec.Seated{Agent: &die{}, Choice: vec.Choice{Agent: n.agent, ID: vec.NoOpponent}})
	require.ErrorContains(t, e.CheckSnapshot(0, bad), "unknown flags")
	require.NoError(t, e.CheckSnapshot(0, snaps[1]))
	require.Zero(t, n.closes)
	require.NoError(t, e.Resume(0, snaps[1], []vec.Seated{none, some}))
	require.Equal(t, 1, n.closes, "the agent that was replaced")
}

// What is forgotten must be reset or resumed, and then plays as in a new Env.
func TestForget(t *testing.T) {
	var n counts
	c := vec.Config{Envs: 3, Agents: []vec.AgentFactory{nil, n.agent}}
	e, out, actions := start(t, toy.Pick, c)
	snap := envtest.Must(e.Snapshot(0, nil))
	future(t, e, 30)
	require.NotZero(t, e.Tallies()[1])
	tracer := newNotebook(toy.Pick, 2)
	e.Trace(tracer)
	require.NoError(t, e.Reset(vec.From(1), nil, out))
	n.closes = 0
	require.NoError(t, e.Forget())
	require.Equal(t, []int{3, 3}, []int{n.closes, tracer.dropped})
	require.Zero(t, e.Tallies()[1])
	require.NoError(t, e.Observe(out))
	require.NotContains(t, out.Opponent, uint16(1))
	err := e.Step(actions, out)
	require.ErrorIs(t, err, vec.ErrNeedsReset)
	require.EqualError(t, err, "vec toy:pick: environment 0: needs a reset (and 2 more environments)")
	seated := []vec.Seated{{}, {Agent: &die{}, Choice: vec.Choice{Agent: n.agent, ID: 7}}}
	require.NoError(t, e.Resume(0, snap, seated))
	require.True(t, e.Live(0))
	require.False(t, e.Live(1))
	var refused *vec.EnvError
	require.ErrorAs(t, e.Step(actions, out), &refused)
	require.Equal(t, []int{1, 2}, refused.Envs)
	require.Equal(t, uint16(7), e.Opponent(0, 1))
	require.Len(t, e.Tallies(), 8)
	require.NoError(t, e.Reset(vec.From(1), nil, out))
	c.Agents = []vec.AgentFactory{nil, newDie}
	f, _, _ := start(t, toy.Pick, c)
	n.games = 0
	require.Equal(t, future(t, f, 40), future(t, e, 40), "kept or made anew, the same game")
	require.Greater(t, n.games, 4, "an agent with NewGame is told of new episodes")
}

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

// TestVariantsStayApart: a position of another variant, or with other seats, may pass Check. It is refused, and nothing
// changes.
func TestVariantsStayApart(t *testing.T) {
	for _, g := range games.All {
		e, _, _ := start(t, g, vec.Config{Envs: 1})
		before := positions(e)
		for _, other := range games.All {
			for _, seats := range seatCounts(other) {
				s := other.New(seats)
				if reflect.TypeOf(s) != reflect.TypeOf(e.State(0)) || other == g && seats == g.MinSeats {
					continue
				}
				says := "another variant of the game"
				if seats != g.MinSeats {
					says = fmt.Sprintf("%d seats, want %d", seats, g.MinSeats)
				}
				require.ErrorContains(t, put(e, 0, s), says, "%s in %s", other.Name, g.Name)
				require.Equal(t, before, positions(e))
			}
		}
		require.NoError(t, put(e, 0, g.New(g.MinSeats)))
	}
	e, _, _ := start(t, wintetris.Game, vec.Config{Envs: 1})
	strict := wintetris.Game.New(1).(*wintetris.State)
	strict.Strict = true
	require.ErrorContains(t, put(e, 0, strict), "another variant")
}
