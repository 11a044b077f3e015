package vec_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// A notebook is a tracer that writes down everything and replays it at the end of an episode. It chooses every third
// episode of environments with odd numbers, and all others.
type notebook struct {
	g     *env.Game
	seats int

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

func newNotebook(g *env.Game, seats int) *notebook {
	return &notebook{g: g, seats: seats, pages: map[int]*page{}}
}

// want notes what is wrong unless ok.
func (n *notebook) want(ok bool, wrong string) {
	if !ok {
		n.wrong = append(n.wrong, wrong)
	}
}

func (n *notebook) Begin(i int, episode, seed uint64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.began = append(n.began, seed)
	if i%2 == 1 && episode%3 != 0 {
		return false
	}
	n.want(n.pages[i] == nil, "an episode began before the last one was over")
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
		n.want(s.Acting() == p.acting[k], "other seats act than were told")
		err := env.Apply(n.g, s, m)
		n.want(err == nil, fmt.Sprint(err))
	}
	n.want(reflect.DeepEqual(s, last), "the moves lead to another position")
}

func (n *notebook) Drop(i int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.want(n.pages[i] != nil, "an episode was dropped that had not begun")
	delete(n.pages, i)
	n.dropped++
}

// traces reports whether the tracer follows an environment.
func (n *notebook) traces(i int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pages[i] != nil
}

// What interrupts an episode drops it, once, and the next episode is traced again.
func TestTraceInterrupted(t *testing.T) {
	e, out, actions := start(t, toy.Pick, vec.Config{Envs: 2, Workers: 1})
	n := newNotebook(toy.Pick, 2)
	e.Trace(n)
	require.Empty(t, n.began, "an episode in progress is not traced")
	snap := envtest.Must(e.Snapshot(1, nil))
	for name, interrupt := range map[string]func() error{
		"restore": func() error { return e.Restore(0, snap) },
		"clone":   func() error { return e.CloneAll([]int{0}, []int{1}) },
		"reseed":  func() error { return e.Reseed(0, 9) },
		"reset":   func() error { return e.Reset(vec.From(4), []bool{true, false}, out) },
	} {
		require.NoError(t, e.Reset(vec.From(3), nil, out))
		play(t, 1, e, actions, out)
		n.dropped = 0
		require.NoError(t, interrupt(), name)
		require.Equal(t, 1, n.dropped, name)
		require.Equal(t, name == "reset", n.traces(0), name)
		require.True(t, n.traces(1), name)
		began, ended := len(n.began), n.ended
		for n.ended < ended+4 {
			play(t, 1, e, actions, out)
		}
		require.Greater(t, len(n.began), began)
		require.Equal(t, 1, n.dropped, name)
		require.Empty(t, n.wrong)
	}
	e.Trace(nil)
	began := len(n.began)
	require.NoError(t, e.Reset(vec.From(3), nil, out))
	require.Len(t, n.began, began)
}
