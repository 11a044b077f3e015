package search

import (
	"context"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
)

func TestSearchesPlayWhatTheExhaustiveOnePlays(t *testing.T) {
	g := blockbattle.Game
	for _, levels := range []uint64{3, 1 << 20} {
		e := hashed{levels: levels}
		for _, c := range []struct {
			agent     env.Agent
			reference exhaust
			depth, n  int
		}{
			{NewGreedy(g, e), exhaust{eval: e}, 1, 300},
			{NewTwoPly(g, e), exhaust{eval: e}, 2, 60},
			{NewExpectimax(g, e, 1<<20, blockbattle.Pieces), exhaust{eval: e, outcomes: blockbattle.Pieces, drawn: 1}, 3, 2},
			{NewExpectimax(g, e, 1<<20, 2), exhaust{eval: e, outcomes: 2, drawn: 1}, 3, 6},
		} {
			ended := 0
			for i, s := range positions(c.n) {
				if c.reference.agrees(t, c.agent, s, i%2, c.depth) < -Limit {
					ended++
				}
			}
			require.True(t, ended > 0 || c.n < 60, "no position was lost: the end was not tested")
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
		s := envtest.Start[env.State](toy.Pick, 2, seed)
		for range seed % toy.Length {
			if s.Acting() != 0 {
				s.Step(env.Moves{s.Legal(0, nil)[0], s.Legal(1, nil)[0]})
			}
		}
		if s.Acting() == 0 {
			continue
		}
		n, reference := whole(toy.Pick, margin{}, 3), exhaust{eval: margin{}, outcomes: 3, drawn: 2, game: toy.Pick}
		got := envtest.Must(n.Act(context.Background(), copyOf(toy.Pick, s), 0))
		want, v := reference.best(s, 0, 0, 4)
		require.Equal(t, want, got, "seed %d", seed)
		require.InDelta(t, v, n.Value(), 1e-3*max(1, math.Abs(float64(v))/1000), "seed %d", seed)
		if math.Abs(float64(v)) > float64(Limit)/float64(3*3) {
			ended++
		}
	}
	require.NotZero(t, ended, "no game was over within four plies")

	e, done := hashed{levels: 1 << 20}, 0
	for _, s := range positions(400) {
		c, pairs := copyOf(blockbattle.Game, s), len(s.Legal(0, nil))
		if env.After(c, 0, s.Legal(0, nil)[0]); c.Acting() == 0 || pairs*len(c.Legal(0, nil)) > 200 {
			continue
		}
		exhaust{eval: e}.agrees(t, whole(blockbattle.Game, e, 1), s, 0, 4)
		if done++; done == 2 {
			return
		}
	}
	t.Fatal("no position of few choices")
}

func TestHiddenDrawsMakeNoDifference(t *testing.T) {
	view := blockbattle.Game.New(2)
	for name, a := range searches(hashed{levels: 1 << 20}) {
		for i, s := range positions(60) {
			env.View(view, s, i%2, 1)
			want, value := act(a, view, i%2), a.(Reporter).Value()
			for seed := uint64(2); seed < 6; seed++ {
				env.View(view, s, i%2, seed)
				require.Equal(t, want, act(a, view, i%2), "%s, position %d", name, i)
				require.Equal(t, value, a.(Reporter).Value(), "%s, position %d", name, i)
			}
		}
	}
}

func TestNothingIsAllocatedOnceWarm(t *testing.T) {
	agents, list, c := searches(tidy{}), positions(20), blockbattle.Game.New(2)
	agents["random"], agents["first"] = NewRandom(1), NewFirst()
	for name, a := range agents {
		all := func() {
			for i, s := range list {
				c.CopyFrom(s)
				_, _ = a.Act(context.Background(), c, i%2)
			}
		}
		all()
		// One that the runtime makes for itself, for its cache of type assertions, the mean rounds down.
		require.Zero(t, testing.AllocsPerRun(4, all), name)
	}
}

func TestAFinishedGameIsRefused(t *testing.T) {
	s := blockbattle.Game.New(2)
	for s.Acting() != 0 {
		s.Step(env.Moves{s.Legal(0, nil)[0], s.Legal(1, nil)[0]})
	}
	agents := searches(tidy{})
	agents["random"], agents["first"] = NewRandom(1), NewFirst()
	for name, a := range agents {
		require.ErrorContains(t, envtest.Failed(a.Act(context.Background(), s, 1)), "seat 1 has no legal action", name)
	}
}

// TestWidthKeepsTheBestAtOnePly limits a search of two plies to three first actions, and an Expectimax to one pair,
// which leaves no choice.
func TestWidthKeepsTheBestAtOnePly(t *testing.T) {
	g, e, seen := blockbattle.Game, hashed{levels: 1 << 20}, 0
	reference := exhaust{eval: e}
	for i, s := range positions(40) {
		two, narrow := NewTwoPly(g, e), NewExpectimax(g, e, 1, blockbattle.Pieces)
		require.Equal(t, act(two, s, i%2), act(narrow, s, i%2), "position %d", i)
		two.width = 3
		got := act(two, s, i%2)
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

func TestRandomIsEven(t *testing.T) {
	s := blockbattle.Game.New(2)
	legal := s.Legal(0, nil)
	r := NewRandom(3)
	seen := map[env.Action]int{}
	const each = 1000
	for range each * len(legal) {
		seen[act(r, s, 0)]++
	}
	chi := 0.0
	for _, a := range legal {
		d := float64(seen[a] - each)
		chi += d * d / each
	}
	require.Less(t, chi, float64(len(legal))*2.5, "χ² over %d actions", len(legal))
	require.Equal(t, act(NewRandom(9), s, 0), act(NewRandom(9), s, 0))
}
