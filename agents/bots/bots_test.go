package bots

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/games"
)

// lookup returns the game of a name.
func lookup(t testing.TB, name string) *env.Game {
	t.Helper()
	g, err := games.Lookup(name)
	require.NoError(t, err)
	return g
}

// parsed reads text as an agent.
func parsed(t testing.TB, g *env.Game, text Text) *Agent {
	t.Helper()
	a, err := Parse(g, text)
	require.NoError(t, err, "%s: %v", g.Name, text)
	return a
}

// factory is New of a spec of our own.
func factory(t testing.TB, g *env.Game, spec string) Factory {
	t.Helper()
	f, err := New(g, Own(spec))
	require.NoError(t, err, "%s: %s", g.Name, spec)
	return f
}

// agent is what the factory of a spec makes.
func agent(t testing.TB, g *env.Game, spec string, seed uint64) env.Agent {
	t.Helper()
	a, err := factory(t, g, spec)(seed)
	require.NoError(t, err)
	return a
}

// act is the choice of an agent.
func act(t testing.TB, a env.Agent, s env.State, seat int) env.Action {
	t.Helper()
	got, err := a.Act(context.Background(), s, seat)
	require.NoError(t, err)
	return got
}

// ranker is NewRanker of a spec of our own.
func ranker(t testing.TB, g *env.Game, spec string) *Ranker {
	t.Helper()
	r, err := NewRanker(g, Own(spec))
	require.NoError(t, err)
	return r
}

// play plays a few moves of g with f's agent in seat 0 and returns its choices.
func play(t testing.TB, g *env.Game, f Factory, seed uint64) []env.Action {
	t.Helper()
	a, err := f(seed)
	require.NoError(t, err)
	s, view := g.New(g.MinSeats), g.New(g.MinSeats)
	s.Reset(5)
	var list []env.Action
	for ply := uint64(0); ply < 12 && s.Acting() != 0; ply++ {
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			m[set.First()] = s.Legal(set.First(), nil)[0]
		}
		if s.Acting().Has(0) {
			env.View(view, s, 0, ply)
			m[0] = act(t, a, view, 0)
			list = append(list, m[0])
		}
		require.NoError(t, env.Apply(g, s, m))
	}
	return list
}

func TestEveryGameHasThePresets(t *testing.T) {
	for _, g := range games.All {
		for _, name := range []string{"random", "first", "hand", "learned"} {
			require.Contains(t, Names(g), name, g.Name)
		}
		for _, name := range Names(g) {
			f, err := New(g, Own(name))
			if errors.Is(err, mlp.ErrNotShipped) {
				require.Equal(t, "learned", name)
				continue
			}
			require.NoError(t, err, "%s: %s", g.Name, name)
			require.Equal(t, play(t, g, f, 1), play(t, g, f, 1), "%s: %s: same seed, other play", g.Name, name)
		}
	}
}

func TestDefaultSearchLooksTwoPliesAhead(t *testing.T) {
	g := blockbattle.Game
	choices := func(text string) []env.Action { return play(t, g, factory(t, g, text), 1) }
	require.Equal(t, choices("hand:ply=2"), choices("hand"))
	require.NotEqual(t, choices("hand:ply=1"), choices("hand"))
	require.NotEqual(t, choices("hand:ply=3,width=9"), choices("hand"))
	require.NotEqual(t, choices("hand:ply=4,width=9"), choices("hand"))
	require.NotEqual(t, choices("terms6"), choices("hand"))
}

func TestBadTextIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"":                       `unknown agent ""; blockbattle has random, first, hand, learned, terms6`,
		"hnad":                   `agent "hnad": unknown agent "hnad"; blockbattle has random, first, hand`,
		"random:seed=1":          "random takes no options",
		"first:":                 "first takes no options",
		"hand:nodes=9,ply=2":     "nodes are in place of ply and width",
		"hand:guard=2":           `option guard: "2" is not a number from 1 to 1`,
		"hand:ply=1,guard=1":     "a guard is for two plies or more",
		"hand:plies=2":           `unknown option "plies"; there are eps, guard, nodes, ply, time, weights, width`,
		"hand:ply":               `option ply: "" is not a number from 1 to 16`,
		"hand:ply=5":             `ply 5, want 1 to 4`,
		"hand:ply=0":             `option ply: "0" is not a number from 1 to 16`,
		"hand:ply=2,":            `unknown option ""`,
		"hand:width=-1":          `option width: "-1" is not a number`,
		"hand:width=99999999999": `option width: "99999999999" is not a number`,
		"hand:time=5":            "option time: time: missing unit",
		"hand:time=-1s":          "option time: -1s: want more than 0",
		"hand:weights=":          "option weights: no file is named",
		"hand:weights=/no/such":  "/no/such: no such file",
		"learned:weights=/no/it": "/no/it: no such file",
		"terms6:weights=x":       "terms6 has no weights",
		"exec:":                  "exec: no command is named",
		"exec":                   "exec: no command is named",
		"hand ":                  "digger, exec:CMD, human, and files",
		"lerned:ply=1":           `unknown agent "lerned"; blockbattle has`,
		"me=you=hand":            "two names, me and you",
		"A=1 ./bot":              "for a variable of a command, write exec:A=1 ./bot",
		"exec:/no/such bot":      "program /no/such: no such file",
		"exec:nosuchprogram -v":  "program nosuchprogram: executable file not found",
	} {
		_, err := New(blockbattle.Game, Own(text))
		require.ErrorContains(t, err, want, "text %q", text)
	}
}

// A late evaluator spends the time limit in its first call and counts the calls after that.
type late struct {
	limit time.Duration
	begun time.Time
	calls int
}

func (l *late) Evaluate(_ []env.State, _ int, out []float32) {
	if l.begun.IsZero() {
		l.begun = time.Now()
		for time.Since(l.begun) <= l.limit { // the limit began before the first call
			runtime.Gosched()
		}
	}
	l.calls++
	clear(out)
}

// A search whose time is up evaluates next to nothing more, where without a limit it would
// evaluate hundreds of times.
func TestTimeLimitEndsTheSearch(t *testing.T) {
	g, e := blockbattle.Game, &late{limit: 3 * time.Millisecond}
	calls := func(options string) int {
		s := searchOf(&entry.Entry{Outcomes: blockbattle.Pieces})
		o, err := s.ParseOptions(options, nil)
		require.NoError(t, err)
		e.begun, e.calls = time.Time{}, 0
		f, err := searcher(g, s, func() (entry.Evaluator, error) { return e, nil }, o)
		require.NoError(t, err)
		a, err := f(1)
		require.NoError(t, err)
		act(t, a, g.New(2), 0)
		return e.calls
	}
	require.Greater(t, calls("ply=3,width=100"), 500)
	require.Less(t, calls("ply=3,width=100,time=3ms"), 10)
}

func TestAgentsOfOneFactoryMayThinkAtOnce(t *testing.T) {
	g := blockbattle.Game
	f := factory(t, g, "hand")
	want := play(t, g, f, 1)
	var all sync.WaitGroup
	got := make([][]env.Action, 8)
	for i := range got {
		all.Go(func() { got[i] = play(t, g, f, uint64(i)) })
	}
	all.Wait()
	for i := range got {
		require.Equal(t, want, got[i])
	}
}

func TestTheSearchTellsItsValue(t *testing.T) {
	a := agent(t, blockbattle.Game, "terms6:ply=1", 1)
	act(t, a, blockbattle.Game.New(2), 0)
	require.Less(t, a.(search.Reporter).Value(), float32(-400), "four cells: 40 each and their height")
}
