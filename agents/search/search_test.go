package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest/toy"
)

// hashed is an evaluator without meaning: a hash of the boards and points of a position, as a
// number in [-100, 100], so that no two searches agree by accident. Few levels give many ties.
type hashed struct {
	levels uint64
	calls  *int
}

func (h hashed) Evaluate(states []env.State, seat int, out []float32) {
	if h.calls != nil {
		*h.calls++
	}
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
func positions(t testing.TB, n int) []env.State {
	t.Helper()
	g := blockbattle.Game
	good, bad := NewGreedy(g, tidy{}), NewRandom(7)
	view := g.New(2)
	var list []env.State
	for seed := uint64(1); len(list) < n; seed++ {
		s := g.New(2)
		s.Reset(seed)
		var whole []env.State
		for ply := uint64(0); s.Acting() != 0 && ply < 60; ply++ {
			p := g.New(2)
			p.CopyFrom(s)
			whole = append(whole, p)
			m := env.NoMoves
			for seat := range 2 {
				env.View(view, s, seat, ply)
				var a env.Agent = good
				if seat == 1 || env.Mix(ply+seed)%4 == 0 {
					a = bad
				}
				var err error
				m[seat], err = a.Act(context.Background(), view, seat)
				require.NoError(t, err)
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

func act(t testing.TB, a env.Agent, s env.State, seat int) env.Action {
	t.Helper()
	c := blockbattle.Game.New(2)
	c.CopyFrom(s)
	got, err := a.Act(context.Background(), c, seat)
	require.NoError(t, err)
	return got
}

// exhaust is the reference: the plain full search over own actions, in new memory, one
// position at a time.
type exhaust struct {
	eval     Evaluator
	outcomes int       // number of values of the first draw after an action
	drawn    int       // average over the draws after so many actions; later draws are 0
	game     *env.Game // nil is Block Battle
}

func (x exhaust) fresh(s env.State) env.State {
	g := x.game
	if g == nil {
		g = blockbattle.Game
	}
	c := g.New(2)
	c.CopyFrom(s)
	return c
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
	c := x.fresh(s)
	c.Force([]uint16{uint16(draw)})
	env.After(c, seat, a)
	switch {
	case c.Acting() == 0 && c.Result(seat) > 0:
		return Win - float32(ply+1)
	case c.Acting() == 0 && c.Result(seat) < 0:
		return -Win + float32(ply+1)
	case c.Acting() == 0:
		return 0
	case depth > 1:
		_, v := x.best(c, seat, ply+1, depth-1)
		return v
	}
	var out [1]float32
	x.eval.Evaluate([]env.State{c}, seat, out[:])
	return out[0]
}

func TestSearchesPlayWhatTheExhaustiveOnePlays(t *testing.T) {
	g := blockbattle.Game
	for _, levels := range []uint64{3, 1 << 20} {
		e := hashed{levels: levels}
		for _, c := range []struct {
			name      string
			agent     env.Agent
			reference exhaust
			depth     int
			n         int
		}{
			{"greedy", NewGreedy(g, e), exhaust{eval: e}, 1, 300},
			{"two-ply", NewTwoPly(g, e), exhaust{eval: e}, 2, 60},
			{"expectimax", NewExpectimax(g, e, 1<<20, blockbattle.Pieces),
				exhaust{eval: e, outcomes: blockbattle.Pieces, drawn: 1}, 3, 2},
			{"expectimax, two outcomes", NewExpectimax(g, e, 1<<20, 2), exhaust{eval: e, outcomes: 2, drawn: 1}, 3, 6},
		} {
			t.Run(fmt.Sprintf("%s, %d levels", c.name, levels), func(t *testing.T) {
				ended := 0
				for i, s := range positions(t, c.n) {
					want, v := c.reference.best(s, i%2, 0, c.depth)
					require.Equal(t, want, act(t, c.agent, s, i%2), "position %d", i)
					require.InDelta(t, v, c.agent.(Reporter).Value(), 1e-3, "position %d", i)
					if v < -Limit {
						ended++
					}
				}
				if c.n >= 60 {
					require.NotZero(t, ended, "no position was lost: the end was not tested")
				}
			})
		}
	}
}

// TestTheFourthPlyPlaysWhatTheExhaustiveOnePlays searches every third action. The toy game is
// searched with all its draws, Block Battle with one, in positions with few actions.
func TestTheFourthPlyPlaysWhatTheExhaustiveOnePlays(t *testing.T) {
	whole := func(g *env.Game, e Evaluator, outcomes int) *Expectimax {
		n := NewExpectimax4(g, e, 1<<20, outcomes)
		n.tail.width = 0
		return n
	}
	ended := 0
	for seed := range uint64(40) {
		s := toy.Pick.New(2)
		s.Reset(seed)
		for range seed % toy.Length {
			if s.Acting() != 0 {
				s.Step(env.Moves{s.Legal(0, nil)[0], s.Legal(1, nil)[0]})
			}
		}
		if s.Acting() == 0 {
			continue
		}
		n, reference := whole(toy.Pick, margin{}, 3), exhaust{eval: margin{}, outcomes: 3, drawn: 2, game: toy.Pick}
		got, err := n.Act(context.Background(), reference.fresh(s), 0)
		require.NoError(t, err)
		want, v := reference.best(s, 0, 0, 4)
		require.Equal(t, want, got, "seed %d", seed)
		require.InDelta(t, v, n.Value(), 1e-3*max(1, math.Abs(float64(v))/1000), "seed %d", seed)
		if math.Abs(float64(v)) > float64(Limit)/float64(3*3) {
			ended++
		}
	}
	require.NotZero(t, ended, "no game was over within four plies")

	e, done := hashed{levels: 1 << 20}, 0
	for i, s := range positions(t, 400) {
		c := exhaust{}.fresh(s)
		pairs := len(s.Legal(0, nil))
		if env.After(c, 0, s.Legal(0, nil)[0]); c.Acting() == 0 {
			continue
		}
		if pairs *= len(c.Legal(0, nil)); pairs > 200 {
			continue
		}
		n, reference := whole(blockbattle.Game, e, 1), exhaust{eval: e}
		want, v := reference.best(s, 0, 0, 4)
		require.Equal(t, want, act(t, n, s, 0), "position %d", i)
		require.InDelta(t, v, n.Value(), 1e-3, "position %d", i)
		if done++; done == 2 {
			return
		}
	}
	t.Fatal("no position of few choices")
}

func TestHiddenDrawsMakeNoDifference(t *testing.T) {
	g := blockbattle.Game
	e := hashed{levels: 1 << 20}
	view := g.New(2)
	for i, s := range positions(t, 60) {
		for name, a := range map[string]env.Agent{
			"greedy": NewGreedy(g, e), "two-ply": NewTwoPly(g, e), "expectimax": NewExpectimax(g, e, 3, blockbattle.Pieces),
			"expectimax4": NewExpectimax4(g, e, 1, 2),
		} {
			env.View(view, s, i%2, 1)
			want, value := act(t, a, view, i%2), a.(Reporter).Value()
			for seed := uint64(2); seed < 6; seed++ {
				env.View(view, s, i%2, seed)
				require.Equal(t, want, act(t, a, view, i%2), "%s, position %d", name, i)
				require.Equal(t, value, a.(Reporter).Value(), "%s, position %d", name, i)
			}
		}
	}
}

func TestFarLossIsBetterThanNearOne(t *testing.T) {
	g := blockbattle.Game
	e := tidy{}
	seen := 0
	for i, s := range positions(t, 400) {
		seat := i % 2
		one, two := NewGreedy(g, e), NewTwoPly(g, e)
		act(t, one, s, seat)
		act(t, two, s, seat)
		if one.Value() > -Limit && two.Value() < -Limit {
			seen++
			require.Equal(t, -Win+2, two.Value(), "lost at the second ply")
		}
		if one.Value() < -Limit {
			require.Equal(t, -Win+1, one.Value())
			require.Equal(t, -Win+1, two.Value(), "every choice loses at once")
		}
	}
	require.NotZero(t, seen)
}

func TestExpectimaxKeepsToItsWidth(t *testing.T) {
	g := blockbattle.Game
	e := hashed{levels: 1 << 20}
	for i, s := range positions(t, 40) {
		seat := i % 2
		two, narrow := NewTwoPly(g, e), NewExpectimax(g, e, 1, blockbattle.Pieces)
		require.Equal(t, act(t, two, s, seat), act(t, narrow, s, seat),
			"one line alone leaves no choice: position %d", i)
	}
}

// counting cancels after n calls.
type counting struct {
	Evaluator
	left   int
	cancel func()
}

func (c *counting) Evaluate(states []env.State, seat int, out []float32) {
	if c.left--; c.left == 0 {
		c.cancel()
	}
	c.Evaluator.Evaluate(states, seat, out)
}

func TestOutOfTimePlaysTheBestSoFar(t *testing.T) {
	g := blockbattle.Game
	e := hashed{levels: 1 << 20}
	for i, s := range positions(t, 30) {
		seat := i % 2
		for calls := 1; calls <= 4; calls++ {
			ctx, cancel := context.WithCancel(context.Background())
			two := NewTwoPly(g, &counting{e, calls, cancel})
			c := g.New(2)
			c.CopyFrom(s)
			got, err := two.Act(ctx, c, seat)
			require.NoError(t, err)

			// Without a deadline the first actions are searched in order.
			want, best, searched := env.None, float32(0), 0
			for _, a := range s.Legal(seat, nil) {
				v := exhaust{eval: e}.value(s, seat, a, 0, 2)
				one := exhaust{eval: e}.value(s, seat, a, 0, 1)
				if one > -Limit { // not lost at once: it takes a call, unless all its seconds lose
					if searched == calls {
						continue
					}
					if v > -Limit {
						searched++
					}
				}
				if want == env.None || v > best {
					want, best = a, v
				}
			}
			require.Equal(t, want, got, "position %d, %d calls", i, calls)
		}
	}
}

func TestDeadlineIsKeptAndDoesNotMatterWhenFar(t *testing.T) {
	g := blockbattle.Game
	for i, s := range positions(t, 20) {
		seat := i % 2
		for _, make := range []func() env.Agent{
			func() env.Agent { return NewTwoPly(g, hashed{levels: 5}) },
			func() env.Agent { return NewExpectimax(g, hashed{levels: 5}, 10, blockbattle.Pieces) },
			func() env.Agent { return NewExpectimax4(g, hashed{levels: 5}, 2, 2) },
		} {
			far, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			c := g.New(2)
			c.CopyFrom(s)
			got, err := make().Act(far, c, seat)
			require.NoError(t, err)
			require.Equal(t, act(t, make(), s, seat), got, "position %d", i)

			past, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
			defer cancel()
			c.CopyFrom(s)
			got, err = make().Act(past, c, seat)
			require.NoError(t, err)
			require.Contains(t, s.Legal(seat, nil), got)
		}
	}
}

func TestNothingIsAllocatedOnceWarm(t *testing.T) {
	g := blockbattle.Game
	list := positions(t, 50)
	c := g.New(2)
	for name, a := range map[string]env.Agent{
		"random":      NewRandom(1),
		"first":       NewFirst(),
		"greedy":      NewGreedy(g, tidy{}),
		"two-ply":     NewTwoPly(g, tidy{}),
		"expectimax":  NewExpectimax(g, tidy{}, 4, blockbattle.Pieces),
		"expectimax4": NewExpectimax4(g, tidy{}, 1, 2),
	} {
		all := func() {
			for i, s := range list {
				c.CopyFrom(s)
				_, _ = a.Act(context.Background(), c, i%2)
			}
		}
		all()
		require.Zero(t, testing.AllocsPerRun(1, all), name)
	}
}

func TestAFinishedGameIsRefused(t *testing.T) {
	g := blockbattle.Game
	s := g.New(2)
	for s.Acting() != 0 {
		s.Step(env.Moves{s.Legal(0, nil)[0], s.Legal(1, nil)[0]})
	}
	e := tidy{}
	for _, a := range []env.Agent{
		NewRandom(1), NewFirst(), NewGreedy(g, e), NewTwoPly(g, e), NewExpectimax(g, e, 3, 7), NewExpectimax4(g, e, 3, 7),
	} {
		_, err := a.Act(context.Background(), s, 1)
		require.ErrorContains(t, err, "seat 1 has no legal action")
	}
}

func TestRandomIsEven(t *testing.T) {
	s := blockbattle.Game.New(2)
	legal := s.Legal(0, nil)
	r := NewRandom(3)
	seen := map[env.Action]int{}
	const each = 1000
	for range each * len(legal) {
		seen[act(t, r, s, 0)]++
	}
	chi := 0.0
	for _, a := range legal {
		d := float64(seen[a] - each)
		chi += d * d / each
	}
	require.Less(t, chi, float64(len(legal))*2.5, "χ² over %d actions", len(legal))
	require.Equal(t, act(t, NewRandom(9), s, 0), act(t, NewRandom(9), s, 0))
}

// TestWidthKeepsTheBestAtOnePly limits a search of two plies to three first actions.
func TestWidthKeepsTheBestAtOnePly(t *testing.T) {
	e, seen := hashed{levels: 1 << 20}, 0
	reference := exhaust{eval: e}
	for i, s := range positions(t, 40) {
		two := NewTwoPly(blockbattle.Game, e)
		two.width = 3
		got := act(t, two, s, i%2)
		legal := s.Legal(i%2, nil)
		one := func(a env.Action) float32 { return reference.value(s, i%2, a, 0, 1) }
		if slices.ContainsFunc(legal, func(a env.Action) bool { return math.Abs(float64(one(a))) > float64(Limit) }) {
			continue // actions that end the game need no search and do not count
		}
		seen++
		sort.SliceStable(legal, func(j, k int) bool { return one(legal[j]) > one(legal[k]) })
		want := legal[0]
		for _, a := range legal[:min(3, len(legal))] {
			if reference.value(s, i%2, a, 0, 2) > reference.value(s, i%2, want, 0, 2) {
				want = a
			}
		}
		require.Equal(t, want, got, "position %d", i)
	}
	require.Greater(t, seen, 20)
}
