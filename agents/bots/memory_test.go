package bots

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/env"
	"blockyard/env/envtest"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/env/wintetris"
)

// specs are agents of g with all their searches.
func specs(g *env.Game) []string {
	all := append(Names(g), searches(g, "eps=0.5", "ply=1", "ply=2,width=3", "ply=3,width=3", "ply=4,width=2",
		"width=4", "depth=1", "width=30,depth=2", "parts=1", "parts=9")...)
	for name := range Of(g).Fixed {
		all = append(all, name+":eps=0.5")
	}
	return all
}

// Before every choice of a game, a new agent gets the memory of the one that has played so far. Both then make
// the same choice and remember the same: so nothing but the memory and the position counts.
func TestMemoryIsAllThatAgentsKeep(t *testing.T) {
	for _, g := range games.All {
		for _, spec := range specs(g) {
			choices := 10
			switch {
			case strings.Contains(spec, "ply=3"), strings.Contains(spec, "ply=4"):
				choices = 3
			case g == wintetris.TickGame:
				choices = 60
			}
			t.Run(g.Name+" "+spec, func(t *testing.T) {
				t.Parallel()
				checkMemory(t, g, spec, choices)
			})
		}
	}
}

func checkMemory(t *testing.T, g *env.Game, spec string, choices int) {
	made := func(seed uint64) vec.Resumable {
		return agent(t, g, spec, seed).(vec.Resumable) // of a factory of its own, so that nothing is shared
	}
	memory := func(a vec.Resumable) []byte {
		b := envtest.Must(a.AppendMemory([]byte("before")))
		require.Equal(t, "before", string(b[:6]))
		return b[6:]
	}
	old := made(1)
	s := envtest.Start[env.State](g, g.MinSeats, 5)
	walk(t, g, s, choices*g.MinSeats, func(view env.State, seat, ply int) env.Action {
		if seat > 0 {
			return view.Legal(seat, nil)[0]
		}
		fresh, twin := made(99), g.New(g.MinSeats)
		require.NoError(t, fresh.RestoreMemory(memory(old)))
		twin.CopyFrom(view)
		a := act(old, view, 0)
		require.Equal(t, a, act(fresh, twin, 0), "choice at ply %d", ply)
		require.Equal(t, memory(old), memory(fresh))
		return a
	})
}

func TestMemoryThatCannotBeSaved(t *testing.T) {
	for _, g := range games.All {
		if o := searchOf(Of(g)).Options; g == wintetris.TickGame || o[len(o)-1] != entry.Time {
			continue
		}
		a := agent(t, g, "hand:time=5ms", 1)
		require.ErrorContains(t, envtest.Failed(a.(vec.Resumable).AppendMemory(nil)), "depend on the clock (time=5ms)")
	}
	a := agent(t, games.All[0], "exec:true", 1)
	_, ok := a.(vec.Resumable)
	require.False(t, ok, "what a program keeps is its own")
}

// Bytes that are no memory are refused, or the agent plays a legal action: it never fails.
func FuzzMemory(f *testing.F) {
	f.Add(uint8(0), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint8(3), []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 3, 5})
	f.Add(uint8(3), []byte{1, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 6})
	g := wintetris.TickGame
	specs := []string{"random", "first", "hand:parts=3", "hand"}
	f.Fuzz(func(t *testing.T, which uint8, memory []byte) {
		a := agent(t, g, specs[int(which)%len(specs)], 1)
		if a.(vec.Resumable).RestoreMemory(memory) != nil {
			return
		}
		require.Equal(t, string(memory), string(envtest.Must(a.(vec.Resumable).AppendMemory(nil))))
		s := g.New(1)
		for range 12 {
			if s.Acting() == 0 {
				return
			}
			s.(*wintetris.State).New = false // in the middle of a piece
			action := act(a, s, 0)
			require.Contains(t, s.Legal(0, nil), action)
			s.Step(env.Alone(0, action))
		}
	})
}

// What a search, its judge and their network take after the first choices of games is at most what the spec states.
func TestMemoryIsStated(t *testing.T) {
	for _, g := range games.All {
		if strings.Contains(g.Name, ":") && g != wintetris.TickGame {
			continue
		}
		for _, spec := range searches(g, "", "ply=1", "ply=3,width=2", "ply=4,width=1", "nodes=20000", "width=3000,depth=3") {
			stated := parsed(t, g, Foreign(spec, nil)).Memory()
			before := envtest.Live()
			a := parsed(t, g, Foreign(spec, nil))
			player := envtest.Must(searchOf(Of(g)).New(g, envtest.Must(a.evaluators.create()), a.options))
			for _, seats := range []int{g.MinSeats, g.MaxSeats} {
				walk(t, g, envtest.Start[env.State](g, seats, uint64(seats)), 8, func(view env.State, seat, _ int) env.Action {
					return act(player, view, seat)
				})
			}
			taken := envtest.Live() - before
			runtime.KeepAlive(a)
			runtime.KeepAlive(player)
			want := stated.Spec + stated.Search + stated.Agent
			t.Logf("%-14s %-22s %8d of %8d bytes", g.Name, spec, taken, want)
			const noise = 4 << 10 // of the runtime
			require.LessOrEqual(t, taken, want+noise, "%s %s", g.Name, spec)
		}
	}
}

// A wider search and a larger network state more.
func TestMemoryGrowsWithOptions(t *testing.T) {
	for _, c := range []struct{ game, small, large string }{
		{"dropblox", "hand:width=50", "hand:width=10000"}, {"blocking", "hand:ply=2", "hand:ply=6"},
		{"dropblox", "hand:width=10000", "hand:time=1s"}, {"blockbattle", "hand:ply=1", "hand:ply=4"},
		{"tetrisduel", "hand", "learned"},
	} {
		g := lookup(c.game)
		var sum [2]int64
		for k, spec := range []string{c.small, c.large} {
			m := parsed(t, g, Foreign(spec, nil)).Memory()
			sum[k] = m.Spec + m.Search + m.Agent
		}
		require.Less(t, sum[0], sum[1], fmt.Sprint(c))
	}
}
