package server_test

import (
	"bytes"
	"slices"
	"testing"

	"blockyard/rpc/session/limits"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots/features"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// seen are the globals that a seat observes, as features: the first changes with the
// seat's choices, the other two are shared.
type seen struct{}

func observed(s env.State, seat int) []float32 {
	globals := make([]float32, toy.Pick.Globals())
	s.Observe(seat, make([]uint8, toy.Pick.Planes.Len()), globals)
	return globals
}

func (seen) Shared(s env.State, seat int, out []float32) { copy(out, observed(s, seat)[1:]) }
func (seen) Own(s env.State, seat int, out []float32)    { copy(out, observed(s, seat)[:1]) }

func featured(c *server.Config) {
	c.Features = func(g *env.Game) *features.Set {
		if g != toy.Pick {
			return nil
		}
		return &features.Set{Names: g.GlobalNames, Own: 1, New: func() features.Reader { return seen{} }}
	}
}

type told struct {
	Count    int    `msgpack:"count"`
	Indptr   []byte `msgpack:"indptr"`
	Actions  []byte `msgpack:"actions"`
	Features []byte `msgpack:"features"`
	Globals  []byte `msgpack:"globals"`
	Reward   []byte `msgpack:"reward"`
	Done     []byte `msgpack:"done"`
}

func TestFeatures(t *testing.T) {
	c := dial(t, start(t, featured).unix)
	var names struct {
		Game     string   `msgpack:"game"`
		Rules    int      `msgpack:"rules"`
		Features []string `msgpack:"features"`
		Own      int      `msgpack:"own"`
	}
	require.NoError(t, c.Call("feature_names", &names, "toy:pick"))
	require.Equal(t, "toy", names.Game)
	require.Equal(t, toy.Pick.GlobalNames, names.Features)
	require.Equal(t, 1, names.Own)
	g, err := c.Open("toy:pick", map[string]any{"num_envs": 5, "seed": 4, "reward": "score"})
	require.NoError(t, err)
	require.Equal(t, wire.NeedsReset, code(t, g.Call("features", nil, nil)))
	require.NoError(t, g.CallSlab("reset"))
	var choose chooser
	for range 9 {
		stepped(t, g, &choose)
		var a, b told
		seed := map[string]any{"seed": 6}
		require.NoError(t, g.Call("features", &a, u32(4, 0, 2), seed))
		require.NoError(t, g.Call("afterstates", &b, u32(4, 0, 2), seed))
		for m, done := range b.Done {
			if done == 1 { // nobody looks at the end of a game
				clear(b.Globals[12*m : 12*(m+1)])
			}
		}
		require.Equal(t, b.Globals, a.Features)
		b.Globals, b.Features = nil, a.Features
		require.Equal(t, b, a)
	}
	none, err := c.Open("toy:turns", nil)
	require.NoError(t, err)
	require.ErrorContains(t, none.Call("features", nil, nil), "toy:turns defines no features")
	require.Equal(t, wire.BadParams, code(t, c.Call("feature_names", nil, "toy:turns")))
	require.Equal(t, wire.UnknownGame, code(t, c.Call("feature_names", nil, "chess")))
}

func TestFeaturesComeInPages(t *testing.T) {
	g := small(t, featured, 3000)
	var a told
	require.NoError(t, g.Call("features", &a, nil))
	require.Positive(t, a.Count)
	require.Less(t, a.Count, 200)
}

// small opens 200 games on a server whose answers are short.
func small(t *testing.T, change func(*server.Config), reply int) *client.Games {
	t.Helper()
	g, err := dial(t, start(t, func(c *server.Config) {
		if change != nil {
			change(c)
		}
		c.Limits.MaxReply = limits.DefaultLimits().MaxReply>>13 + reply
	}).unix).Open("toy:pick", map[string]any{"num_envs": 200})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	return g
}

type sight struct {
	Count   int    `msgpack:"count"`
	Planes  []byte `msgpack:"planes"`
	Globals []byte `msgpack:"globals"`
}

// TestObserve compares what rows see with what all seats see, through the end of games.
func TestObserve(t *testing.T) {
	for _, mode := range []string{"NextStep", "Disabled"} {
		g := opened(t, "toy:pick", map[string]any{"num_envs": 3, "seed": 4, "autoreset": mode})
		require.Equal(t, wire.NeedsReset, code(t, g.Call("observe", nil, nil)))
		require.NoError(t, g.CallSlab("reset"))
		var choose chooser
		for range 20 {
			var all, some sight
			require.NoError(t, g.Call("observe", &all, nil))
			require.Equal(t, sight{3, g.Field("planes"), g.Field("globals")}, all)
			require.NoError(t, g.Call("observe", &some, u32(2)))
			require.Equal(t, sight{1, all.Planes[2*len(all.Planes)/3:], all.Globals[2*len(all.Globals)/3:]}, some)
			if mode == "Disabled" && bytes.Contains(g.Field("terminated"), []byte{1}) {
				break
			}
			stepped(t, g, &choose)
		}
	}
	turns := opened(t, "toy:turns", map[string]any{"num_envs": 1, "opponents": map[int]string{1: "first"}})
	require.NoError(t, turns.CallSlab("reset"))
	var all sight
	require.NoError(t, turns.Call("observe", &all, nil))
	require.Len(t, all.Globals, 3*4*toy.Turns.Globals(), "of every seat, whoever plays it")
	row := 4 * toy.Turns.Globals()
	require.Equal(t, turns.Field("globals"), slices.Concat(all.Globals[:row], all.Globals[2*row:]), "rows of seats 0 and 2")
	require.Equal(t, wire.BadParams, code(t, turns.Call("observe", nil, u32(1))))
	g := small(t, nil, 3000)
	require.NoError(t, g.Call("observe", &all, nil))
	require.Positive(t, all.Count)
	require.Less(t, all.Count, 200)
}
