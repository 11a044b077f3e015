package search

import (
	"context"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
)

// hashed is an evaluator without meaning: a hash of the boards and points of a position, as a
// number in [-100, 100], so that no two searches agree by accident. Few levels give many ties.
type hashed struct{ levels uint64 }

func (h hashed) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		b := s.(*blockbattle.State)
		word := uint64(b.Sides[seat].Points)<<8 + uint64(b.Sides[1-seat].Pending)
		for _, column := range b.Sides[seat].Cells {
			word = env.Mix(word ^ column)
		}
		out[i] = 200*float32(word%h.levels)/float32(h.levels-1) - 100
	}
}

// tidy is a sensible evaluator: it prefers low stacks without holes. Games played by it last.
type tidy struct{}

func (tidy) Evaluate(states []env.State, seat int, out []float32) {
	for i, s := range states {
		out[i] = 0
		for _, column := range s.(*blockbattle.State).Sides[seat].Cells {
			for y, seen := 0, false; y < blockbattle.Height; y++ {
				taken := column>>uint(y)&1 != 0
				seen = seen || taken
				if taken {
					out[i] -= float32(blockbattle.Height-y) * 0.2
				} else if seen {
					out[i]--
				}
			}
		}
	}
}

// positions returns n positions of games in progress, at all heights and near the end too. One
// seat plays well, the other at random, and now and then both play at random.
func positions(n int) []env.State {
	g := blockbattle.Game
	good, bad := NewGreedy(g, tidy{}), NewRandom(7)
	view := g.New(2)
	var list []env.State
	for seed := uint64(1); len(list) < n; seed++ {
		s := envtest.Start[env.State](g, 2, seed)
		var whole []env.State
		for ply := uint64(0); s.Acting() != 0 && ply < 60; ply++ {
			whole = append(whole, copyOf(g, s))
			m := env.NoMoves
			for seat := range 2 {
				env.View(view, s, seat, ply)
				var a env.Agent = good
				if seat == 1 || env.Mix(ply+seed)%4 == 0 {
					a = bad
				}
				m[seat] = envtest.Must(a.Act(context.Background(), view, seat))
			}
			s.Step(m)
		}
		for i := range whole {
			if i%7 == int(seed%7) || i >= len(whole)-3 {
				list = append(list, whole[i])
			}
		}
	}
	return list[:n]
}

func copyOf(g *env.Game, s env.State) env.State {
	c := g.New(s.SeatCount())
	c.CopyFrom(s)
	return c
}

func act(a env.Agent, s env.State, seat int) env.Action {
	return actIn(context.Background(), a, s, seat)
}

// actIn is what a plays in a copy of s, a position of Block Battle.
func actIn(ctx context.Context, a env.Agent, s env.State, seat int) env.Action {
	return envtest.Must(a.Act(ctx, copyOf(blockbattle.Game, s), seat))
}

// searches are agents for Block Battle, one of each kind.
func searches(e Evaluator) map[string]env.Agent {
	g := blockbattle.Game
	return map[string]env.Agent{
		"greedy": NewGreedy(g, e), "two-ply": NewTwoPly(g, e), "expectimax": NewExpectimax(g, e, 3, blockbattle.Pieces),
		"expectimax4": NewExpectimax4(g, e, 1, 2), "deepening": NewDeepening(g, e, 2000, blockbattle.Pieces),
	}
}

// exhaust is the reference: the plain full search over own actions, in new memory, one
// position at a time.
type exhaust struct {
	eval     Evaluator
	outcomes int       // number of values of the first draw after an action
	drawn    int       // average over the draws after so many actions; later draws are 0
	game     *env.Game // nil is Block Battle
}

// agrees requires that a search of Block Battle plays what the reference plays, at its value, which it returns.
func (x exhaust) agrees(t *testing.T, a env.Agent, s env.State, seat, depth int) float32 {
	want, v := x.best(s, seat, 0, depth)
	require.Equal(t, want, act(a, s, seat), "depth %d: %+v", depth, s)
	require.InDelta(t, v, a.(Reporter).Value(), 1e-3)
	return v
}

// best returns the first of the best actions in s, searching depth plies ahead, and its value.
// s is ply plies from the root.
func (x exhaust) best(s env.State, seat, ply, depth int) (env.Action, float32) {
	choice, most := env.None, float32(0)
	for _, a := range s.Legal(seat, nil) {
		if v := x.value(s, seat, a, ply, depth); choice == env.None || v > most {
			choice, most = a, v
		}
	}
	return choice, most
}

func (x exhaust) value(s env.State, seat int, a env.Action, ply, depth int) float32 {
	if ply >= x.drawn {
		return x.after(s, seat, a, 0, ply, depth)
	}
	var sum float32
	for o := range x.outcomes {
		sum += x.after(s, seat, a, o, ply, depth)
	}
	return sum / float32(x.outcomes)
}

func (x exhaust) after(s env.State, seat int, a env.Action, draw, ply, depth int) float32 {
	if x.game == nil {
		x.game = blockbattle.Game
	}
	c := copyOf(x.game, s)
	c.Force([]uint16{uint16(draw)})
	env.After(c, seat, a)
	if c.Acting() == 0 {
		return c.Result(seat) * (Win - float32(ply+1))
	}
	if depth > 1 {
		_, v := x.best(c, seat, ply+1, depth-1)
		return v
	}
	var out [1]float32
	x.eval.Evaluate([]env.State{c}, seat, out[:])
	return out[0]
}

func TestTableMemoryIsStated(t *testing.T) {
	require.Equal(t, TableMemory, int(tableLen*unsafe.Sizeof(entry{})))
}

// The value in an entry answers for as much as is known: at most, at least or exactly so much, in the same iteration,
// at the same ply.
func TestKnownIsWhatWasSearched(t *testing.T) {
	var e entry
	for _, c := range []struct {
		v, alpha, beta float32 // of the search
		low, high      float32 // asked
		stamp          uint32
		ply            int
		known          bool
	}{
		{5, 0, 10, 0, 10, 7, 2, true},
		{5, 0, 10, 6, 7, 7, 2, true},
		{5, 0, 10, 0, 10, 8, 2, false},
		{5, 0, 10, 0, 10, 7, 3, false},
		{0, 0, 10, 0, 10, 7, 2, true},
		{0, 0, 10, -1, 10, 7, 2, false},
		{-3, 0, 10, -2, 10, 7, 2, true},
		{10, 0, 10, 0, 10, 7, 2, true},
		{12, 0, 10, 0, 11, 7, 2, true},
		{12, 0, 10, 0, 13, 7, 2, false},
	} {
		e.set(7, 2, c.v, c.alpha, c.beta, env.None)
		v, known := e.known(c.stamp, c.ply, c.low, c.high)
		require.Equal(t, c.known, known, "%+v", c)
		if known {
			require.Equal(t, c.v, v)
		}
	}
}

// A new position takes the place of another, and nothing of that is left.
func TestTableReplaces(t *testing.T) {
	m := table{entries: make([]entry, tableLen)}
	e := m.at(3, nil)
	e.listed, e.first = 4, 9
	require.Equal(t, int8(4), m.at(3, nil).listed)
	require.Equal(t, entry{key: 3 + tableLen, first: env.None}, *m.at(3+tableLen, nil))
	require.Equal(t, entry{key: 3, first: env.None}, *m.at(3, nil))
}

// The actions that were best elsewhere are each kept once, the latest first.
func TestKeepMovesToTheFront(t *testing.T) {
	var n node
	for a := env.Action(0); a < bests+2; a++ {
		n.keep(a)
	}
	require.Equal(t, []env.Action{9, 8, 7, 6, 5, 4, 3, 2}, n.best)
	n.keep(6)
	n.keep(6)
	require.Equal(t, []env.Action{6, 9, 8, 7, 5, 4, 3, 2}, n.best)
}
