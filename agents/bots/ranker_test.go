package bots

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/wintetris"
)

// best is the one with the least id of the choices with the greatest value.
func best(list []entry.Choice) entry.Choice {
	return slices.MaxFunc(list, func(a, b entry.Choice) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), int(b.Action)-int(a.Action))
	})
}

// The best action of a ranking is the one that the agent plays, with the value that it reports. In Dropblox, a ranking has
// all placements, and the agent's line is one of those that it compares: so the best is worth as much or more.
func TestTheAgentPlaysTheBestOfItsRanking(t *testing.T) {
	for _, c := range []struct {
		game  string
		seats int
		specs []string
	}{
		{"blockbattle", 2, []string{"hand:ply=1", "hand", "terms6:ply=2", "learned", "learned:ply=1"}},
		{"tetrisduel", 2, []string{"hand:ply=1", "hand", "learned", "hand:ply=3,width=6", "learned:ply=4,width=3"}},
		{"blocking", 2, []string{"hand:ply=1", "hand:width=3", "learned:ply=3,width=3"}},
		{"blocking", 3, []string{"hand:ply=1", "hand:width=3", "hand:ply=4,width=2"}},
		{"wintetris", 1, []string{"hand", "learned"}},
		{"dropblox", 1, []string{"hand:width=8", "learned:width=8,depth=3", "hand:depth=1"}},
	} {
		g, n := lookup(c.game), 24
		if c.game == "dropblox" {
			n = 8
		}
		for _, spec := range c.specs {
			r, a := ranker(g, spec), agent(t, g, spec, 1)
			all := situations(t, g, c.seats, 7, n)
			require.NotEmpty(t, all)
			for _, s := range all {
				seat, view, legal := s.Acting().First(), g.New(c.seats), s.Legal(s.Acting().First(), nil)
				view.CopyFrom(s)
				want := act(a, view, seat)
				view.CopyFrom(s)
				list := envtest.Must(r.Rank(t.Context(), view, seat, env.None))
				for _, c := range list {
					require.Contains(t, legal, c.Action)
				}
				got, told := best(list), a.(search.Reporter).Value()
				if c.game == "dropblox" {
					require.Len(t, list, len(legal))
					at := slices.IndexFunc(list, func(c entry.Choice) bool { return c.Action == want })
					require.GreaterOrEqual(t, list[at].Value, told-1e-3, spec)
					require.GreaterOrEqual(t, got.Value, list[at].Value)
					continue
				}
				require.Equal(t, g.Text(want), g.Text(got.Action), "%s, %s", c.game, spec)
				require.Equal(t, told, got.Value, "%s, %s", c.game, spec)
			}
		}
	}
}

// A move that the search leaves out is valued all the same if it is asked about.
func TestTheMovePlayedIsRanked(t *testing.T) {
	g := lookup("tetrisduel")
	r := ranker(g, "hand:width=4")
	s := situations(t, g, 2, 3, 12)[11]
	seat := s.Acting().First()
	for _, a := range s.Legal(seat, nil) {
		list := envtest.Must(r.Rank(t.Context(), s, seat, a))
		at := slices.IndexFunc(list, func(c entry.Choice) bool { return c.Action == a })
		require.GreaterOrEqual(t, at, 0)
		require.Equal(t, 4+at/4, len(list), "four, and this one if it is not among them")
	}
}

// Every action of a line is legal where it is played, and no seat knows more than the pieces it sees.
func TestLinesAreLegal(t *testing.T) {
	for _, c := range []struct {
		game, spec string
		seats, len int
	}{
		{"blockbattle", "hand", 2, 1}, {"blockbattle", "learned:ply=3", 2, 1}, {"tetrisduel", "hand:ply=4,width=4", 2, 3},
		{"blocking", "hand:width=3", 4, 1}, {"dropblox", "hand:width=4", 1, 5}, {"dropblox", "hand:width=4,depth=2", 1, 1},
		{"wintetris", "hand", 1, 0},
	} {
		g := lookup(c.game)
		r := ranker(g, c.spec)
		for _, s := range situations(t, g, c.seats, 5, 6)[2:] {
			seat, view := s.Acting().First(), g.New(c.seats)
			env.View(view, s, seat, 9)
			a := view.Legal(seat, nil)[0]
			view.Force([]uint16{0, 0, 0, 0})
			line := envtest.Must(r.Line(t.Context(), view, seat, a))
			require.Len(t, line, c.len, "%s, %s", c.game, c.spec)
			if _, joint := s.(env.Afterstater); joint {
				continue
			}
			play := g.New(c.seats)
			env.View(play, s, seat, 9)
			play.Force([]uint16{0, 0, 0, 0})
			play.Step(env.Alone(seat, a))
			for _, p := range line {
				play.Force([]uint16{0, 0, 0, 0})
				require.NoError(t, env.Apply(g, play, env.Alone(p.Seat, p.Action)), "%s, %s", c.game, c.spec)
			}
		}
	}
}

func TestRankersRefuse(t *testing.T) {
	for _, c := range []struct {
		g          *env.Game
		spec, want string
	}{
		{blockbattle.Game, "random", `agent "random": it gives no values to actions: want hand, learned, terms6`},
		{blockbattle.Game, "exec:cat", "it gives no values"},
		{blockbattle.Game, "nobody", `unknown agent "nobody"`},
		{blockbattle.Game, "hand:ply=17", "option ply"},
		{blockbattle.Game, "hand:time=5ms", "an analysis takes as long as it takes"},
		{wintetris.TickGame, "hand", "an action is the keys of one tick"},
	} {
		require.ErrorContains(t, envtest.Failed(NewRanker(c.g, Own(c.spec))), c.want)
	}
}

// A unit says what the values are: that of a network is what its file says.
func TestRankersSayWhatAValueIs(t *testing.T) {
	net := envtest.Must(Of(blockbattle.Game).LoadNet(blockbattle.Game, ""))
	odds := filepath.Join(t.TempDir(), "odds.safetensors")
	save(t, odds, net, Of(blockbattle.Game).Facts(blockbattle.Game, map[string]string{"output": logOdds}))
	silent := filepath.Join(t.TempDir(), "silent.safetensors")
	save(t, silent, net, Of(blockbattle.Game).Facts(blockbattle.Game, nil))
	for _, c := range []struct {
		g          *env.Game
		spec, unit string
		odds       bool
	}{
		{blockbattle.Game, "learned", "output of the network, worth of a position, to be compared within a decision: " +
			"higher is better; compare values of one position only", false},
		{blockbattle.Game, "hand", "points of the hand-tuned baseline" + onlyHere, false},
		{blockbattle.Game, "terms6", "points of an evaluator" + onlyHere, false},
		{wintetris.Game, "learned", Of(wintetris.Game).Learned.Unit, false},
		{blockbattle.Game, "learned:weights=" + odds, logOdds, true},
		{blockbattle.Game, "learned:weights=" + silent, "output of the network" + onlyHere, false},
	} {
		r := ranker(c.g, c.spec)
		require.Equal(t, c.unit, r.Unit, c.spec)
		require.Equal(t, c.odds, r.Odds, c.spec)
	}
}
