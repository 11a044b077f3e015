package server_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
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

func TestFeatures(t *testing.T) {
	c := dial(t, start(t, featured).unix)
	type names struct {
		Game     string   `msgpack:"game"`
		Rules    int      `msgpack:"rules"`
		Features []string `msgpack:"features"`
		Own      int      `msgpack:"own"`
	}
	want := names{"toy", toy.Pick.Rules, toy.Pick.GlobalNames, 1}
	require.Equal(t, want, result[names](t, c, "feature_names", "toy:pick"))
	g := openGames(t, c, "toy:pick", map[string]any{"num_envs": 5, "seed": 4, "reward": "score"})
	require.Equal(t, wire.NeedsReset, code(t, g.Call("features", nil, nil)))
	require.NoError(t, g.Reset(nil))
	var choose chooser
	for range 9 {
		stepped(t, g, &choose)
		seed := map[string]any{"seed": 6}
		a := result[lists](t, g, "features", u32(4, 0, 2), seed)
		b := result[lists](t, g, "afterstates", u32(4, 0, 2), seed)
		for m, done := range b.Done {
			if done == 1 { // nobody looks at the end of a game
				clear(b.Globals[12*m : 12*(m+1)])
			}
		}
		require.Equal(t, b.Globals, a.Features)
		b.Globals, b.Planes, b.Features = nil, nil, a.Features
		require.Equal(t, b, a)
	}
	require.ErrorContains(t, openGames(t, c, "toy:turns", nil).Call("features", nil, nil), "toy:turns defines no features")
	require.Equal(t, wire.BadParams, code(t, c.Call("feature_names", nil, "toy:turns")))
	require.Equal(t, wire.UnknownGame, code(t, c.Call("feature_names", nil, "chess")))
}

// Responses about many games hold as many of them as fit, of which each is as in the response about all.
func TestResponsesComeInPages(t *testing.T) {
	open := func(reply int) *client.Games {
		p := start(t, func(c *server.Config) {
			featured(c)
			c.Limits.MaxReply = reply
		})
		return startGames(t, dial(t, p.unix), "toy:pick", map[string]any{"num_envs": 1000, "seed": 1})
	}
	large, small, larger := open(limits.DefaultLimits().MaxReply), open(5_000), open(66_000)
	for method, field := range map[string]string{"legal": "actions", "afterstates": "planes", "features": "features",
		"observe": "planes", "observe_text": "texts", "snapshot": "states", "checkpoint": "games"} {
		g := small
		if method == "checkpoint" { // which leaves room for what agents remember
			g = larger
		}
		all, page := result[map[string]any](t, large, method, nil), result[map[string]any](t, g, method, nil)
		require.EqualValues(t, 1000, all["count"], method)
		count, err := strconv.Atoi(fmt.Sprint(page["count"]))
		require.NoError(t, err)
		require.True(t, 4 < count && count < 1000, "%s: %d", method, count)
		whole, part := fmt.Sprint(all[field]), fmt.Sprint(page[field])
		require.Equal(t, whole[:len(part)-1], part[:len(part)-1], method)
	}
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
		require.NoError(t, g.Reset(nil))
		var choose chooser
		for range 20 {
			all := sight{3, g.Field("planes"), g.Field("globals")}
			require.Equal(t, all, result[sight](t, g, "observe", nil))
			third := sight{1, all.Planes[2*len(all.Planes)/3:], all.Globals[2*len(all.Globals)/3:]}
			require.Equal(t, third, result[sight](t, g, "observe", u32(2)))
			if mode == "Disabled" && bytes.Contains(g.Field("terminated"), []byte{1}) {
				break
			}
			stepped(t, g, &choose)
		}
	}
	turns := started(t, "toy:turns", map[string]any{"num_envs": 1, "opponents": map[int]string{1: "first"}})
	all := result[sight](t, turns, "observe", nil)
	require.Len(t, all.Globals, 3*4*toy.Turns.Globals(), "of every seat, whoever plays it")
	row := 4 * toy.Turns.Globals()
	require.Equal(t, turns.Field("globals"), slices.Concat(all.Globals[:row], all.Globals[2*row:]), "rows of seats 0 and 2")
	require.Equal(t, wire.BadParams, code(t, turns.Call("observe", nil, u32(1))))
}
