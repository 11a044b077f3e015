package vec_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// A notebook is a tracer that writes down everything and replays it at the end of an episode.
type notebook struct {
	g     *env.Game
	seats int
	every uint64

	mu             sync.Mutex
	pages          map[int]*page
	began          []uint64 // seeds, of every episode
	ended, dropped int
	wrong          []string
}

type page struct {
	seed   uint64
	acting []env.Seats
	moves  []env.Moves
}

func newNotebook(g *env.Game, seats int, every uint64) *notebook {
	return &notebook{g: g, seats: seats, every: every, pages: map[int]*page{}}
}

func (n *notebook) Begin(i int, episode, seed uint64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.began = append(n.began, seed)
	if episode%n.every != 0 {
		return false
	}
	if n.pages[i] != nil {
		n.wrong = append(n.wrong, "an episode began before the last one was over")
	}
	n.pages[i] = &page{seed: seed}
	return true
}

func (n *notebook) Move(i int, acting env.Seats, moves env.Moves) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.pages[i]
	p.acting, p.moves = append(p.acting, acting), append(p.moves, moves)
}

func (n *notebook) End(i int, last env.State) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.pages[i]
	delete(n.pages, i)
	n.ended++
	s := n.g.New(n.seats)
	s.Reset(p.seed)
	for k, m := range p.moves {
		if s.Acting() != p.acting[k] {
			n.wrong = append(n.wrong, "other seats act than were told")
			return
		}
		if err := env.Apply(n.g, s, m); err != nil {
			n.wrong = append(n.wrong, err.Error())
			return
		}
	}
	if !same(s, last) {
		n.wrong = append(n.wrong, "the moves lead to another position")
	}
}

func (n *notebook) Drop(i int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pages[i] == nil {
		n.wrong = append(n.wrong, "an episode was dropped that had not begun")
	}
	delete(n.pages, i)
	n.dropped++
}

// The moves of every episode lead from its seed to its last position, and being traced changes nothing.
func TestTrace(t *testing.T) {
	seed := envtest.Seed(t)
	for _, g := range allGames() {
		for name, c := range twinConfigs(g) {
			t.Run(g.Name+"/"+name, func(t *testing.T) {
				c.Envs, c.Seats, c.Workers = 5, g.MinSeats, 3
				e, out, actions := start(t, g, c)
				plain, want, _ := start(t, g, c)
				n := newNotebook(g, c.Seats, 1)
				e.Trace(n)
				require.Empty(t, n.began, "an episode in progress is not traced")
				require.NoError(t, e.Reset(vec.From(seed), nil, out))
				require.NoError(t, plain.Reset(vec.From(seed), nil, want))
				require.Len(t, n.pages, c.Envs)
				ended := 0
				for range 60 {
					if c.Autoreset == vec.Disabled && n.resetEnded(t, e, out) {
						n.resetEnded(t, plain, want)
					}
					require.NoError(t, e.Sample(actions))
					require.NoError(t, plain.Sample(actions))
					require.NoError(t, e.Step(actions, out))
					require.NoError(t, plain.Step(actions, want))
					require.Equal(t, want, out)
					for i := range c.Envs {
						ended += int(out.Terminated[i] | out.Truncated[i])
					}
				}
				require.Empty(t, n.wrong)
				require.Equal(t, ended, n.ended)
			})
		}
	}
}

func (n *notebook) resetEnded(t *testing.T, e *vec.Env, out *vec.Batch) bool {
	mask, some := make([]bool, e.Config().Envs), false
	for i := range mask {
		mask[i] = e.Ended(i)
		some = some || mask[i]
	}
	if some {
		require.NoError(t, e.Reset(vec.Seeds{}, mask, out))
	}
	return some
}

// What interrupts an episode drops it, once, and the next episode is traced again.
func TestTraceInterrupted(t *testing.T) {
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 2, Workers: 1})
	n := newNotebook(toy.Pick, 2, 1)
	e.Trace(n)
	begin := func() {
		require.NoError(t, e.Reset(vec.From(3), nil, out))
		require.NoError(t, e.Sample(actions))
		require.NoError(t, e.Step(actions, out))
		n.dropped = 0
	}
	begin()
	snap, err := e.Snapshot(1, nil)
	require.NoError(t, err)
	for name, interrupt := range map[string]func() error{
		"restore": func() error { return e.Restore(0, snap) },
		"clone":   func() error { return e.CloneAll([]int{0}, []int{1}) },
		"reseed":  func() error { return e.Reseed(0, 9) },
		"reset":   func() error { return e.Reset(vec.From(4), []bool{true, false}, out) },
	} {
		begin()
		require.NoError(t, interrupt(), name)
		require.Equal(t, 1, n.dropped, name)
		require.Equal(t, name == "reset", n.pages[0] != nil, name)
		require.NotNil(t, n.pages[1], name)
		began, ended := len(n.began), n.ended
		for n.ended < ended+4 {
			require.NoError(t, e.Sample(actions))
			require.NoError(t, e.Step(actions, out))
		}
		require.Greater(t, len(n.began), began)
		require.Equal(t, 1, n.dropped, name)
		require.Empty(t, n.wrong)
	}
	begin()
	e.Trace(nil)
	began := len(n.began)
	require.NoError(t, e.Reset(vec.From(3), nil, out))
	require.Len(t, n.began, began)
}

// Only the episodes that the tracer chooses are traced.
func TestTraceSome(t *testing.T) {
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 4, Workers: 2})
	n := newNotebook(toy.Pick, 2, 3)
	e.Trace(n)
	require.NoError(t, e.Reset(vec.From(1), nil, out))
	ended := 0
	for range 200 {
		require.NoError(t, e.Sample(actions))
		require.NoError(t, e.Step(actions, out))
		for i := range out.Terminated {
			ended += int(out.Terminated[i])
		}
	}
	require.Empty(t, n.wrong)
	require.InDelta(t, float64(ended)/3, n.ended, 4)
}

func same(a, b env.State) bool {
	x, err := env.Encode(nil, a)
	if err != nil {
		return false
	}
	y, err := env.Encode(nil, b)
	return err == nil && string(x) == string(y)
}
