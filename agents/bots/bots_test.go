package bots

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/bots/entry/toybot"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/blocking"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/env/tetrisduel"
)

// lookup returns the game of a name.
func lookup(name string) *env.Game { return envtest.Must(games.Lookup(name)) }

// parsed reads text as an agent.
func parsed(t testing.TB, g *env.Game, text Text) *Agent {
	a, err := Parse(g, text)
	require.NoError(t, err, "%s: %v", g.Name, text)
	return a
}

// factory is New of a spec of our own.
func factory(t testing.TB, g *env.Game, spec string) Factory {
	f, err := New(g, Own(spec))
	require.NoError(t, err, "%s: %s", g.Name, spec)
	return f
}

// agent is what the factory of a spec makes.
func agent(t testing.TB, g *env.Game, spec string, seed uint64) env.Agent {
	return envtest.Must(factory(t, g, spec)(seed))
}

// act is the choice of an agent.
func act(a env.Agent, s env.State, seat int) env.Action {
	return envtest.Must(a.Act(context.Background(), s, seat))
}

// ranker is NewRanker of a spec of our own.
func ranker(g *env.Game, spec string) *Ranker { return envtest.Must(NewRanker(g, Own(spec))) }

// walk plays up to so many plies of a game. choose returns the action of a seat, which sees what view has.
func walk(t testing.TB, g *env.Game, s env.State, plies int, choose func(view env.State, seat, ply int) env.Action) {
	view := g.New(s.SeatCount())
	for ply := 0; ply < plies && s.Acting() != 0; ply++ {
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			env.View(view, s, set.First(), uint64(ply))
			m[set.First()] = choose(view, set.First(), ply)
		}
		require.NoError(t, env.Apply(g, s, m))
	}
}

// play plays a few moves of g with f's agent in seat 0 and returns its choices.
func play(t testing.TB, g *env.Game, f Factory, seed uint64) (list []env.Action) {
	a := envtest.Must(f(seed))
	walk(t, g, envtest.Start[env.State](g, g.MinSeats, 5), 12, func(view env.State, seat, _ int) env.Action {
		if seat > 0 {
			return view.Legal(seat, nil)[0]
		}
		list = append(list, act(a, view, 0))
		return list[len(list)-1]
	})
	return list
}

// situations are positions of a random game of g.
func situations(t testing.TB, g *env.Game, seats int, seed uint64, n int) (list []env.State) {
	s, dice := envtest.Start[env.State](g, seats, seed), search.NewRandom(seed)
	walk(t, g, s, n, func(view env.State, seat, ply int) env.Action {
		if ply == len(list) {
			list = append(list, g.New(seats))
			list[ply].CopyFrom(s)
		}
		return act(dice, view, seat)
	})
	return list
}

// searches lists the agents of g that search, each with those of these options that it takes.
func searches(g *env.Game, options ...string) (specs []string) {
	for _, name := range Of(g).Names() {
		for _, o := range options {
			spec := strings.TrimSuffix(name+":"+o, ":")
			if _, err := New(g, Own(spec)); err == nil && Of(g).Fixed[name] == nil {
				specs = append(specs, spec)
			}
		}
	}
	return specs
}

func TestEveryGameHasThePresets(t *testing.T) {
	for _, g := range games.All {
		for _, name := range []string{"random", "first", "hand", "learned"} {
			require.Contains(t, Names(g), name, g.Name)
		}
		for _, name := range Names(g) {
			f := factory(t, g, name)
			require.Equal(t, play(t, g, f, 1), play(t, g, f, 1), "%s: %s: same seed, other play", g.Name, name)
		}
	}
}

func TestDefaultSearchLooksTwoPliesAhead(t *testing.T) {
	g := blockbattle.Game
	choices := func(text string) []env.Action { return play(t, g, factory(t, g, text), 1) }
	require.Equal(t, choices("hand:ply=2"), choices("hand"))
	for _, other := range []string{"hand:ply=1", "hand:ply=3,width=9", "hand:ply=4,width=9", "terms6"} {
		require.NotEqual(t, choices(other), choices("hand"), other)
	}
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
		"hand:ply=5":             `ply 5, want 1 to 4`,
		"hand:ply=17":            `option ply: "17" is not a number from 1 to 16`,
		"hand:width=99999999999": `option width: "99999999999" is not a number`,
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
		require.ErrorContains(t, envtest.Failed(New(blockbattle.Game, Own(text))), want, "text %q", text)
	}
}

// The option time is a deadline for each choice, which the searches keep. Without it there is none.
func TestTimeLimit(t *testing.T) {
	var left []time.Duration // none for a choice without a deadline
	searching := toybot.Agent(func(ctx context.Context, _ env.State, _ int) (env.Action, error) {
		if at, ok := ctx.Deadline(); ok {
			left = append(left, time.Until(at))
		}
		return env.None, nil
	})
	s := &entry.Search{New: func(*env.Game, entry.Evaluator, entry.Options) (env.Agent, error) { return searching, nil }}
	for _, limit := range []time.Duration{0, time.Hour} {
		none := func() (entry.Evaluator, error) { return nil, nil }
		f := envtest.Must(searcher(blockbattle.Game, s, none, entry.Options{Time: limit}))
		act(envtest.Must(f(1)), blockbattle.Game.New(2), 0)
	}
	require.Len(t, left, 1)
	require.True(t, left[0] > 0 && left[0] <= time.Hour)
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
	require.Equal(t, slices.Repeat([][]env.Action{want}, len(got)), got)
}

// Of a thousand first choices with eps=0.3, about 300 are random, of which a few are what the agent would play anyway.
func TestEpsIsTheShareOfRandomChoices(t *testing.T) {
	for spec, g := range map[string]*env.Game{
		"hand:ply=1,": blockbattle.Game, "digger:": blockbattle.Game,
		"greedy:ply=1,": blocking.Game, "hand:ply=1,width=3,": tetrisduel.Game,
	} {
		s := envtest.Start[env.State](g, g.MinSeats, 1)
		choose := func(text string, seed uint64) env.Action { return act(agent(t, g, text, seed), s, 0) }
		always := choose(strings.TrimRight(spec, ":,"), 0)
		other := 0
		for seed := range uint64(1000) {
			if choose(spec+"eps=0.3", seed) != always {
				other++
			}
		}
		legal := float64(len(s.Legal(0, nil)))
		require.InDelta(t, 300*(legal-1)/legal, other, 75, "%s: five standard deviations", spec)
		f := factory(t, g, spec+"eps=0.5")
		require.Equal(t, play(t, g, f, 1), play(t, g, f, 1), "choices follow from the seed")
	}
}
