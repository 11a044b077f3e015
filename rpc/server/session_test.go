package server_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/paint"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

func opened(t *testing.T, game string, options map[string]any) *client.Games {
	t.Helper()
	g, err := dial(t, start(t, nil).unix).Open(game, options)
	require.NoError(t, err)
	return g
}

// stepped steps once with chosen legal actions.
func stepped(t *testing.T, g *client.Games, c *chooser) {
	t.Helper()
	actions := make([]byte, 2*g.Rows)
	c.choose(g.Field("mask"), g.Rows, actions)
	require.NoError(t, g.Step(actions))
}

type states struct {
	Count  int    `msgpack:"count"`
	Len    int    `msgpack:"state_len"`
	States []byte `msgpack:"states"`
}

// future is what the next steps of the games look like.
func future(t *testing.T, g *client.Games, steps int) []byte {
	t.Helper()
	var all []byte
	c := chooser(9)
	for range steps {
		stepped(t, g, &c)
		all = append(all, g.Slab...)
	}
	return all
}

func TestSnapshotRestoreClone(t *testing.T) {
	g := opened(t, "blockbattle", map[string]any{"num_envs": 6, "seed": 3})
	require.NoError(t, g.CallSlab("reset"))
	var c chooser
	for range 5 {
		stepped(t, g, &c)
	}
	var kept states
	require.NoError(t, g.Call("snapshot", &kept, nil))
	require.Equal(t, 6, kept.Count)
	require.Equal(t, g.StateLen, kept.Len)
	seen := bytes.Clone(g.Slab)
	want := future(t, g, 10)

	require.NoError(t, g.CallSlab("restore", nil, kept.States))
	require.Equal(t, g.Field("planes"), part(g, seen, "planes"))
	require.Equal(t, want, future(t, g, 10), "the same future")

	other, err := g.Client().Open("blockbattle", map[string]any{"num_envs": 6})
	require.NoError(t, err)
	require.NoError(t, other.CallSlab("restore", nil, kept.States), "into another handle, not yet reset")
	require.Equal(t, want, future(t, other, 10))

	require.NoError(t, g.CallSlab("restore", nil, kept.States, map[string]any{"reseed": 8}))
	require.Equal(t, g.Field("planes"), part(g, seen, "planes"), "what is seen stays")
	require.NotEqual(t, want, future(t, g, 10), "another future")

	require.NoError(t, g.CallSlab("restore", nil, kept.States))
	require.NoError(t, g.CallSlab("clone", u32(1, 0), u32(0, 1)), "both at once")
	require.Equal(t, rows(g, g.Field("planes"), 0, 2), rows(g, part(g, seen, "planes"), 1, 1, 0, 1))
	require.NoError(t, g.CallSlab("clone", u32(2, 2, 2), u32(3, 4, 5), map[string]any{"reseed": 1}))
	planes := g.Field("planes")
	require.Equal(t, rows(g, planes, 2, 1), rows(g, planes, 3, 1))
	future(t, g, 10)
	planes = g.Field("planes")
	require.NotEqual(t, rows(g, planes, 3, 1), rows(g, planes, 4, 1), "futures differ")
}

// part returns a field of an older slab.
func part(g *client.Games, slab []byte, name string) []byte {
	for _, f := range g.Layout {
		if f.Name == name {
			return slab[f.Off : f.Off+f.Len]
		}
	}
	return nil
}

// rows returns the planes of n games from game i on, and of more such pairs.
func rows(g *client.Games, planes []byte, pairs ...int) []byte {
	size := len(planes) / g.NumEnvs
	var out []byte
	for k := 0; k < len(pairs); k += 2 {
		out = append(out, planes[pairs[k]*size:][:pairs[k+1]*size]...)
	}
	return out
}

func TestRestoreRefusesAllOrNothing(t *testing.T) {
	g := opened(t, "blockbattle", map[string]any{"num_envs": 3})
	require.NoError(t, g.CallSlab("reset"))
	future(t, g, 3)
	var kept states
	require.NoError(t, g.Call("snapshot", &kept, nil))
	future(t, g, 3)
	seen := bytes.Clone(g.Slab)
	for at := 2 * kept.Len; at < len(kept.States); at++ { // the third state broken, byte by byte
		bad := bytes.Clone(kept.States)
		bad[at] ^= 0xff
		err := g.CallSlab("restore", nil, bad)
		if err == nil { // such as a seed: any is as good
			require.NoError(t, g.CallSlab("restore", nil, kept.States))
			future(t, g, 3)
			continue
		}
		require.Equal(t, wire.BadState, code(t, err), err)
	}
	require.NoError(t, g.CallSlab("restore", []byte{}, []byte{}), "no game at all")
	require.Equal(t, part(g, seen, "planes"), g.Field("planes"))
	require.Equal(t, wire.BadParams, code(t, g.CallSlab("restore", nil, kept.States[1:])))
	require.Equal(t, wire.BadParams, code(t, g.CallSlab("restore", u32(3), kept.States[:kept.Len])))
	require.Equal(t, wire.BadParams, code(t, g.CallSlab("restore", u32(1, 1), kept.States[:2*kept.Len])))
	classic, err := g.Client().Open("blockbattle:classic", map[string]any{"num_envs": 3})
	require.NoError(t, err)
	require.Equal(t, wire.BadState, code(t, classic.CallSlab("restore", nil, kept.States)), "of another variant")
}

// TestAfterstates holds the answer to After on copies, one by one.
func TestAfterstates(t *testing.T) {
	const n, seed = 5, 21
	g := opened(t, "blockbattle", map[string]any{"num_envs": n, "seed": seed, "reward": "score"})
	require.NoError(t, g.CallSlab("reset"))
	twin, err := vec.New(blockbattle.Game, vec.Config{Envs: n})
	require.NoError(t, err)
	defer twin.Close()
	out, err := twin.NewBatch()
	require.NoError(t, err)
	require.NoError(t, twin.Reset(vec.From(seed), nil, out))
	var c chooser
	raw, actions := make([]byte, 2*g.Rows), make([]env.Action, g.Rows)
	for range 12 {
		c.choose(g.Field("mask"), g.Rows, raw)
		for i := range actions {
			actions[i] = env.Action(binary.LittleEndian.Uint16(raw[2*i:]))
		}
		require.NoError(t, g.Step(raw))
		require.NoError(t, twin.Step(actions, out))
	}
	var a struct {
		Count   int    `msgpack:"count"`
		Indptr  []byte `msgpack:"indptr"`
		Actions []byte `msgpack:"actions"`
		Planes  []byte `msgpack:"planes"`
		Globals []byte `msgpack:"globals"`
		Reward  []byte `msgpack:"reward"`
		Done    []byte `msgpack:"done"`
	}
	asked := []int{3, 0, 4}
	require.NoError(t, g.Call("afterstates", &a, u32(3, 0, 4), map[string]any{"seed": 99}))
	require.Equal(t, len(asked), a.Count)
	view, after := blockbattle.Game.New(2), blockbattle.Game.New(2)
	planes, globals := make([]byte, blockbattle.Game.Planes.Len()), make([]float32, blockbattle.Game.Globals())
	k, m := 0, 0
	for _, i := range asked {
		for seat := range 2 {
			require.EqualValues(t, m, binary.LittleEndian.Uint32(a.Indptr[4*k:]))
			env.View(view, twin.State(i), seat, env.Derive(99, uint64(2*i+seat)))
			for _, action := range view.Legal(seat, nil) {
				after.CopyFrom(view)
				env.After(after, seat, action)
				after.Observe(seat, planes, globals)
				require.EqualValues(t, action, binary.LittleEndian.Uint16(a.Actions[2*m:]))
				require.Equal(t, planes, a.Planes[m*len(planes):(m+1)*len(planes)])
				for x, v := range globals {
					require.Equal(t, v, math.Float32frombits(binary.LittleEndian.Uint32(a.Globals[4*(m*len(globals)+x):])))
				}
				reward := math.Float32frombits(binary.LittleEndian.Uint32(a.Reward[4*m:]))
				require.Equal(t, float32(after.Score(seat)-view.Score(seat)), reward)
				require.Equal(t, after.Acting() == 0, a.Done[m] == 1)
				m++
			}
			k++
		}
	}
	require.Len(t, a.Actions, 2*m)

	var l struct {
		Indptr  []byte `msgpack:"indptr"`
		Actions []byte `msgpack:"actions"`
	}
	require.NoError(t, g.Call("legal", &l, u32(3, 0, 4)))
	require.Equal(t, a.Indptr, l.Indptr)
	require.Equal(t, a.Actions, l.Actions)
}

func TestOpponentsAndSwaps(t *testing.T) {
	g := opened(t, "blockbattle", map[string]any{
		"num_envs": 4, "opponents": map[int]string{1: "first"}, "max_episode_steps": 3,
	})
	require.Equal(t, 4, g.Rows)
	require.NoError(t, g.CallSlab("reset"))
	future(t, g, 10)
	require.NoError(t, g.Call("set_opponents", nil, map[int]string{1: "first"}))
	require.NoError(t, g.CallSlab("reset"))
	future(t, g, 10)
	require.Equal(t, wire.BadParams, code(t, g.Call("set_opponents", nil, map[int]string{0: "first"})))
	require.Equal(t, wire.BadParams, code(t, g.Call("set_opponents", nil, map[int]string{1: "nobody"})))
	require.NoError(t, g.Call("set_opponents", nil, map[int]string{1: "broken"}))
	require.Equal(t, wire.Opponent, code(t, g.CallSlab("reset")))
	for range 2 {
		require.Equal(t, wire.Opponent, code(t, g.Step(u16(65535, 65535, 65535, 65535))))
	}
	require.NoError(t, g.Call("set_opponents", nil, map[int]string{1: "first"}))
	require.NoError(t, g.CallSlab("reset"))
	future(t, g, 3)
}

func TestIllegalActions(t *testing.T) {
	for policy, want := range map[string]int{"error": wire.Illegal, "penalty": 0, "random": 0} {
		g := opened(t, "blockbattle", map[string]any{"num_envs": 2, "illegal": policy})
		require.NoError(t, g.CallSlab("reset"))
		seen := bytes.Clone(g.Slab)
		require.Equal(t, want, code(t, g.Step(u16(65535, 1600, 7000, 65535))), policy)
		if want != 0 {
			require.NoError(t, g.CallSlab("restore", []byte{}, []byte{}))
			require.Equal(t, seen, g.Slab, "nothing was stepped")
		}
	}
}

func TestFieldsAndRender(t *testing.T) {
	g := opened(t, "blockbattle", map[string]any{"num_envs": 2, "fields": []string{"mask"}})
	require.NoError(t, g.CallSlab("reset"))
	require.Nil(t, g.Field("planes"))
	require.NotNil(t, g.Field("mask"))
	require.NotNil(t, g.Field("reward"))
	var f finals
	require.NoError(t, g.Call("final", &f))
	var text, ansi string
	require.NoError(t, g.Call("render", &text, 1))
	require.Contains(t, text, "player1")
	require.NoError(t, g.Call("render", &ansi, 1, map[string]any{"mode": "ansi"}))
	require.Contains(t, ansi, "\x1b[")
	var svg string
	require.NoError(t, g.Call("render", &svg, 1, map[string]any{"mode": "svg", "title": "a < b", "theme": "dark"}))
	require.Contains(t, svg, ">a &lt; b</text>")
	require.Contains(t, svg, paint.Dark.Surface)
	var rgb struct {
		Width  int    `msgpack:"width"`
		Height int    `msgpack:"height"`
		Pixels []byte `msgpack:"pixels"`
	}
	require.NoError(t, g.Call("render", &rgb, 1, map[string]any{"mode": "rgb"}))
	require.Len(t, rgb.Pixels, 3*rgb.Width*rgb.Height)
	require.Equal(t, paint.Side*(2*10+3), rgb.Width, "two boards of ten columns, and margins")
}

// TestRollout equals the same number of steps one by one.
func TestRollout(t *testing.T) {
	for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
		g := opened(t, "toy:pick", map[string]any{"num_envs": 5, "seed": 2, "autoreset": mode})
		require.NoError(t, g.CallSlab("reset"))
		var r struct {
			Steps   int    `msgpack:"steps"`
			Slabs   []byte `msgpack:"slabs"`
			Actions []byte `msgpack:"actions"`
		}
		require.NoError(t, g.Call("rollout", &r, 50))
		require.Equal(t, 50, r.Steps)
		require.Len(t, r.Slabs, 50*g.Len)
		require.Len(t, r.Actions, 50*2*g.Rows)
		if mode == "Disabled" {
			continue
		}
		require.NoError(t, g.CallSlab("reset", map[string]any{"seed": 2}))
		for k := range 50 {
			require.NoError(t, g.Step(r.Actions[2*k*g.Rows:2*(k+1)*g.Rows]))
			require.Equal(t, r.Slabs[k*g.Len:(k+1)*g.Len], g.Slab)
		}
	}
}
