package bots

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/entry"
	"blockyard/agents/mlp"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/env/wintetris"
)

// specs are agents of g with all their searches, and how many choices of each to compare.
func specs(g *env.Game) map[string]int {
	out := map[string]int{}
	for _, name := range Names(g) {
		out[name] = 10
		if name == "random" || name == "first" {
			continue
		}
		out[name+":eps=0.5"] = 10
		if Of(g).Fixed[name] != nil {
			continue
		}
		switch entry.Base(g) {
		case "blockbattle", "tetrisduel":
			out[name+":ply=1"], out[name+":ply=2,width=3"], out[name+":ply=3,width=3"] = 10, 10, 4
			out[name+":ply=4,width=2"] = 2
		case "blocking":
			out[name+":ply=1"], out[name+":ply=2,width=3"], out[name+":ply=3,width=3"] = 10, 10, 4
		case "dropblox":
			out[name+":width=4"], out[name+":depth=1"], out[name+":width=30,depth=2"] = 10, 10, 10
		}
		if g == wintetris.TickGame {
			out[name], out[name+":parts=1"], out[name+":parts=9"] = 60, 60, 60
		}
	}
	return out
}

// Before every choice of a game, a new agent gets the memory of the one that has played so far. Both then make
// the same choice and remember the same: so nothing but the memory and the position counts.
func TestMemoryIsAllThatAgentsKeep(t *testing.T) {
	for _, g := range games.All {
		for spec, choices := range specs(g) {
			t.Run(g.Name+" "+spec, func(t *testing.T) {
				t.Parallel()
				checkMemory(t, g, spec, choices)
			})
		}
	}
}

func checkMemory(t *testing.T, g *env.Game, spec string, choices int) {
	made := func(seed uint64) vec.Resumable {
		f, err := New(g, Own(spec)) // so that nothing is shared
		if errors.Is(err, mlp.ErrNotShipped) {
			t.Skip(err)
		}
		require.NoError(t, err)
		a, err := f(seed)
		require.NoError(t, err)
		return a.(vec.Resumable)
	}
	memory := func(a vec.Resumable) []byte {
		b, err := a.AppendMemory([]byte("before"))
		require.NoError(t, err)
		require.Equal(t, "before", string(b[:6]))
		return b[6:]
	}
	old := made(1)
	s, view := g.New(g.MinSeats), g.New(g.MinSeats)
	s.Reset(5)
	for ply := uint64(0); choices > 0 && s.Acting() != 0; ply++ {
		m := env.NoMoves
		for set := s.Acting(); set != 0; set = set.Rest() {
			m[set.First()] = s.Legal(set.First(), nil)[0]
		}
		if s.Acting().Has(0) {
			choices--
			fresh := made(99)
			require.NoError(t, fresh.RestoreMemory(memory(old)))
			env.View(view, s, 0, ply)
			m[0] = act(t, old, view, 0)
			env.View(view, s, 0, ply)
			a := act(t, fresh, view, 0)
			require.Equal(t, m[0], a, "choice at ply %d", ply)
			require.Equal(t, memory(old), memory(fresh))
		}
		require.NoError(t, env.Apply(g, s, m))
	}
}

func TestMemoryThatCannotBeSaved(t *testing.T) {
	for _, g := range games.All {
		if o := searchOf(Of(g)).Options; g == wintetris.TickGame || o[len(o)-1] != entry.Time {
			continue
		}
		a := agent(t, g, "hand:time=5ms", 1)
		_, err := a.(vec.Resumable).AppendMemory(nil)
		require.ErrorContains(t, err, "depend on the clock (time=5ms)")
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
	var factories []Factory
	for _, spec := range []string{"random", "first", "hand:parts=3", "hand"} {
		made, err := New(g, Own(spec))
		require.NoError(f, err)
		factories = append(factories, made)
	}
	f.Fuzz(func(t *testing.T, which uint8, memory []byte) {
		a, err := factories[int(which)%len(factories)](1)
		require.NoError(t, err)
		if a.(vec.Resumable).RestoreMemory(memory) != nil {
			return
		}
		back, err := a.(vec.Resumable).AppendMemory(nil)
		require.NoError(t, err)
		require.Equal(t, string(memory), string(back))
		s := g.New(1)
		for range 12 {
			if s.Acting() == 0 {
				return
			}
			s.(*wintetris.State).New = false // in the middle of a piece
			action, err := a.Act(context.Background(), s, 0)
			require.NoError(t, err)
			require.Contains(t, s.Legal(0, nil), action)
			s.Step(env.Alone(0, action))
		}
	})
}
