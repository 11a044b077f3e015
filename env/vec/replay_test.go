package vec_test

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/vec"
)

// logged steps e n times, with answers for those who are asked, and returns the log of each environment and the last batch.
func logged(t *testing.T, e *vec.Env, n int) ([]vec.Log, *vec.Batch) {
	logs, rows := make([]vec.Log, e.Config().Envs), e.Rows()
	actions := make([]env.Action, len(logs)*rows)
	var out *vec.Batch
	for k := range n {
		out = everything(t, e)
		for row := range actions {
			actions[row] = 0
			if legal := e.Legal(row/rows, row%rows, nil); len(legal) > 0 {
				actions[row] = legal[(3*k+row)%len(legal)]
			}
		}
		require.NoError(t, e.Step(actions, out))
		completed(t, e, actions, out)
		for i := range logs {
			logs[i].Env = i
			logs[i].Actions = append(logs[i].Actions, actions[i*rows:(i+1)*rows]...)
			if out.Moves != nil {
				logs[i].Moves = append(logs[i].Moves, out.Moves[i*vec.MovesLen:(i+1)*vec.MovesLen]...)
			}
		}
	}
	return logs, out
}

// everything returns a batch with every slab.
func everything(t *testing.T, e *vec.Env) *vec.Batch {
	var names []string
	for _, f := range envtest.Must(e.Layout()).Fields {
		names = append(names, f.Name)
	}
	if e.Driven().Len() < e.Config().Seats {
		names = append(names, "moves")
	}
	return envtest.Must(e.NewBatch(names...))
}

// replayed plays e on, and f from snapshots of e and by its logs, some at a time: f is where e is, with the opponents
// that were drawn, and plays on as e does. It returns how many were restored at the end of an episode.
func replayed(t *testing.T, g *env.Game, c vec.Config) (e, f *vec.Env, ended int) {
	e, _, _ = start(t, g, c)
	c.Workers = 1
	f, _, _ = start(t, g, c)
	for round := range 6 {
		drive(t, e, 3)
		for i, snap := range positions(e) {
			require.Len(t, snap, e.SnapshotLen())
			restore := f.Restore
			if _, ok := e.Seated(i, 1).Agent.(*die); ok || round%2 > 0 {
				restore = func(i int, snap []byte) error { return f.Resume(i, snap, moved(e, i)) }
			}
			require.NoError(t, restore(i, snap))
			ended += map[bool]int{true: 1}[f.Ended(i)]
		}
		require.Equal(t, observed(t, e), observed(t, f))
		logs, last := logged(t, e, 1+5*round)
		out := everything(t, f)
		require.NoError(t, f.Replay(logs[2:], out))
		require.NoError(t, f.Replay(logs[:2], out))
		require.Equal(t, last, out)
		require.Equal(t, positions(e), positions(f))
		require.Equal(t, drive(t, e, 9), drive(t, f, 9))
	}
	return e, f, ended
}

// observed is what a batch shows of the environments as they stand.
func observed(t *testing.T, e *vec.Env) *vec.Batch {
	out := everything(t, e)
	require.NoError(t, e.Observe(out))
	return out
}

// Agents that have no memory are not asked for what is replayed. One that has a memory is, so that it remembers what it
// would have.
func TestReplay(t *testing.T) {
	differ, ended := 0, 0
	var asked atomic.Int64
	think := always(thinker{&asked})
	for _, g := range []*env.Game{toy.Pick, toy.Turns, blocking.Game, blockbattle.Game} {
		for _, mode := range []vec.Autoreset{vec.NextStep, vec.SameStep} {
			for _, c := range []vec.Config{{}, {Agents: []vec.AgentFactory{nil, think}}, {Agents: []vec.AgentFactory{think}},
				{Mixtures: []vec.Mixture{nil, {{newLow, 1, 0}, {think, 1, 1}}}}, {Agents: []vec.AgentFactory{nil, newDie}}} {
				c.Envs, c.Autoreset, c.StepLimit, c.Workers = 5, mode, 9, 3
				e, f, n := replayed(t, g, c)
				ended += n
				for i, snap := range positions(e) {
					require.NoError(t, f.Restore(i, snap))
				}
				logs, out := logged(t, e, 30)
				before := asked.Load()
				if err := f.Replay(logs, out); err != nil {
					require.ErrorIs(t, err, vec.ErrLog)
					differ++
				}
				require.Equal(t, before, asked.Load(), "nobody is asked")
			}
		}
	}
	require.NotZero(t, asked.Load())
	require.Positive(t, ended)
	require.Positive(t, differ, "Restore gives them new agents, which choose otherwise")
}

// A log has the answers of asked seats too: nobody is asked again.
func TestReplayOfAskedSeats(t *testing.T) {
	askedSeats(t, func(t *testing.T, g *env.Game, c vec.Config) { replayed(t, g, c) })
}

// rareGame is toy.Pick in which seat 0 moves once, and then the other seat 79 times.
var rareGame = like("toy:rare", func(s toy.State) env.State { return &rare{State: s} })

type rare struct {
	toy.State
	Moves uint16
}

func (s *rare) Reset(seed uint64)      { s.State.Reset(seed); s.Moves = 0 }
func (s *rare) CopyFrom(src env.State) { *s = *src.(*rare) }

func (s *rare) Acting() env.Seats {
	if s.Moves%80 == 0 {
		return s.State.Acting() & 1
	}
	return s.State.Acting() & 2
}

func (s *rare) Step(m env.Moves) {
	if s.Moves++; s.Moves%80 == 1 {
		s.State.Step(m)
	}
}

// Where more moves are made in a step than a log holds, the agents are asked for the others.
func TestReplayOfLongSteps(t *testing.T) {
	var asked atomic.Int64
	think := always(thinker{&asked})
	c := vec.Config{Envs: 8, Autoreset: vec.SameStep, Agents: []vec.AgentFactory{nil, think}}
	e, _, _ := start(t, rareGame, c)
	f, _, _ := start(t, rareGame, c)
	for i, snap := range positions(e) {
		require.NoError(t, f.Restore(i, snap))
	}
	logs, _ := logged(t, e, 5)
	more := int64(0)
	for _, l := range logs {
		for k := 0; k < len(l.Moves); k += vec.MovesLen {
			more += max(0, int64(l.Moves[k])-(vec.MovesLen-1))
		}
	}
	require.NotZero(t, more, "a seat that watches the other")
	before := asked.Load()
	require.NoError(t, f.Replay(logs, everything(t, f)))
	require.Equal(t, more, asked.Load()-before)
	future(t, e, 9)
	future(t, f, 9)
	require.Equal(t, positions(e), positions(f))
}

// Logs that do not fit are refused, and say why.
func TestReplayRefuses(t *testing.T) {
	var asked atomic.Int64
	c := vec.Config{Envs: 2, Agents: []vec.AgentFactory{nil, always(thinker{&asked})}}
	e, out, _ := start(t, toy.Turns, c)
	for says, edit := range map[string]func(a, b *vec.Log){
		"environment 2: the log does not fit the environment: there are 2":     func(a, b *vec.Log) { b.Env = 2 },
		"environment 1: the log does not fit the environment: it has two logs": func(a, b *vec.Log) { a.Env = 1 },
		"6 actions and 64 moves, want 2 actions and 64 moves for each step": func(a, b *vec.Log) {
			b.Moves = b.Moves[:64]
		},
		"step 0: vec toy:turns: environment 1, row 0, seat 0: illegal action": func(a, b *vec.Log) {
			b.Actions[0], b.Actions[1] = 999, 999
		},
		"its agent answers illegal action: 998":     func(a, b *vec.Log) { b.Moves[1] = 998 },
		"it has 0 moves of agents, which make more": func(a, b *vec.Log) { a.Moves[0] = 0 },
		"step 1: agents made the moves":             func(a, b *vec.Log) { a.Moves[vec.MovesLen] = 5 },
	} {
		logs, _ := logged(t, e, 3)
		edit(&logs[0], &logs[1])
		require.NoError(t, e.Reset(vec.From(1), nil, out))
		require.ErrorContains(t, e.Replay(logs, out), says)
		require.NoError(t, e.Reset(vec.From(1), nil, out))
	}
	f, out, _ := open(t, toy.Turns, c)
	require.ErrorContains(t, f.Replay([]vec.Log{{}}, out), "it has not been reset")
}

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
	s := envtest.Start[env.State](n.g, n.seats, p.seed)
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
