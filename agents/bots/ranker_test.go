package bots

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/mlp"
	"blockyard/agents/search"
	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/wintetris"
)

// situations are positions of a random game of g, each with the seat to move.
func situations(g *env.Game, seats int, seed uint64, n int) (list []env.State) {
	s := g.New(seats)
	s.Reset(seed)
	dice := search.NewRandom(seed)
	for len(list) < n && s.Acting() != 0 {
		p := g.New(seats)
		p.CopyFrom(s)
		list = append(list, p)
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			m[set.First()], _ = dice.Act(context.Background(), s, set.First())
		}
		s.Step(m)
	}
	return list
}

// best is the first of the choices with the greatest value.
func best(list []entry.Choice) (at entry.Choice) {
	at.Value = float32(math.Inf(-1))
	slices.SortFunc(list, func(a, b entry.Choice) int { return int(a.Action) - int(b.Action) })
	for _, c := range list {
		if c.Value > at.Value {
			at = c
		}
	}
	return at
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
		g, n := lookup(t, c.game), 24
		if c.game == "dropblox" {
			n = 8
		}
		for _, spec := range c.specs {
			r, a := ranker(t, g, spec), agent(t, g, spec, 1)
			all := situations(g, c.seats, 7, n)
			require.NotEmpty(t, all)
			for _, s := range all {
				seat, view, legal := s.Acting().First(), g.New(c.seats), s.Legal(s.Acting().First(), nil)
				view.CopyFrom(s)
				want := act(t, a, view, seat)
				view.CopyFrom(s)
				list, err := r.Rank(t.Context(), view, seat, env.None)
				require.NoError(t, err)
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
	g := lookup(t, "tetrisduel")
	r := ranker(t, g, "hand:width=4")
	s := situations(g, 2, 3, 12)[11]
	seat := s.Acting().First()
	for _, a := range s.Legal(seat, nil) {
		list, err := r.Rank(t.Context(), s, seat, a)
		require.NoError(t, err)
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
		g := lookup(t, c.game)
		r := ranker(t, g, c.spec)
		for _, s := range situations(g, c.seats, 5, 6)[2:] {
			seat, view := s.Acting().First(), g.New(c.seats)
			env.View(view, s, seat, 9)
			a := view.Legal(seat, nil)[0]
			view.Force([]uint16{0, 0, 0, 0})
			line, err := r.Line(t.Context(), view, seat, a)
			require.NoError(t, err)
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
		_, err := NewRanker(c.g, Own(c.spec))
		require.ErrorContains(t, err, c.want)
	}
}

// A unit says what the values are: that of a network is what its file says.
func TestRankersSayWhatAValueIs(t *testing.T) {
	unit := func(g *env.Game, spec string) (string, bool) {
		r := ranker(t, g, spec)
		return r.Unit, r.Odds
	}
	text, odds := unit(blockbattle.Game, "learned")
	require.Equal(t, "output of the network, worth of a position, to be compared within a decision: higher is better; "+
		"compare values of one position only", text)
	require.False(t, odds)
	text, odds = unit(blockbattle.Game, "hand")
	require.Contains(t, text, "points of the hand-tuned baseline: higher is better")
	require.False(t, odds)
	text, _ = unit(blockbattle.Game, "terms6")
	require.Contains(t, text, "points of an evaluator")
	text, _ = unit(wintetris.Game, "learned")
	require.Contains(t, text, "0.1 is a completed row")

	e := Of(blockbattle.Game)
	net, err := e.LoadNet(blockbattle.Game, "")
	require.NoError(t, err)
	for output, want := range map[string]bool{logOdds: true, "": false} {
		file := filepath.Join(t.TempDir(), "net.safetensors")
		var data bytes.Buffer
		require.NoError(t, mlp.Write(&data, net, e.Facts(blockbattle.Game, map[string]string{"output": output})))
		require.NoError(t, os.WriteFile(file, data.Bytes(), 0o644))
		text, odds = unit(blockbattle.Game, "learned:weights="+file)
		require.Equal(t, want, odds)
		require.NotEmpty(t, text)
	}
}
