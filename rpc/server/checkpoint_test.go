package server_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// A silent is an agent that says nothing of what it remembers.
type silent struct{}

func (silent) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	return new(first).Act(ctx, s, seat)
}

// real serves all games with all agents.
func real(workers int) func(c *server.Config) {
	return func(c *server.Config) {
		c.Games, c.Workers = append(games.All[:len(games.All):len(games.All)], toy.Pick, toy.Turns), workers
		c.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
			if t.String() == "silent" {
				return func(uint64) (env.Agent, error) { return silent{}, nil }, nil
			}
			f, err := bots.New(g, t)
			return vec.AgentFactory(f), err
		}
	}
}

// parts are games in several handles, in order.
type parts []*client.Games

// open opens n games in handles that begin with the given games.
func openParts(t *testing.T, p *place, game string, n int, options map[string]any, first ...int) (all parts) {
	t.Helper()
	first = append(first, n)
	for k, start := range first[:len(first)-1] {
		o := map[string]any{"num_envs": first[k+1] - start, "first": start, "seed": 3}
		for key, v := range options {
			o[key] = v
		}
		g, err := dial(t, p.unix).Open(game, o)
		require.NoError(t, err)
		all = append(all, g)
	}
	return all
}

func (p parts) field(name string) (all []byte) {
	for _, g := range p {
		all = append(all, g.Field(name)...)
	}
	return all
}

// play steps the games n times with actions that depend on the step and on a row's mask and globals. It returns
// everything that the games tell.
func (p parts) play(t *testing.T, from, n int, disabled bool) (told [][]byte) {
	t.Helper()
	for step := from; step < from+n; step++ {
		var rewards []byte // of the step: a reset of some games leaves no reward of any game in its handle
		for _, g := range p {
			masks, globals := g.Field("mask"), g.Field("globals")
			width, wide := len(masks)/g.Rows, len(globals)/g.Rows
			var actions []byte
			for r := range g.Rows {
				mask := masks[r*width : (r+1)*width]
				sum := fnv.New64a()
				_, _ = sum.Write(append(bytes.Clone(mask), globals[r*wide:(r+1)*wide]...))
				legal, a := 0, uint16(0)
				for _, b := range mask {
					legal += bits.OnesCount8(b)
				}
				if legal > 0 {
					a = nth(mask, int((sum.Sum64()+uint64(step))%uint64(legal)))
				}
				actions = append(actions, u16(a)...)
			}
			require.NoError(t, g.Step(actions))
			rewards = append(rewards, g.Field("reward")...)
			ended := g.Field("terminated")
			for i, b := range g.Field("truncated") {
				ended[i] |= b
			}
			if disabled && bytes.Contains(ended, []byte{1}) {
				require.NoError(t, g.Reset(map[string]any{"mask": bytes.Clone(ended)}))
			}
		}
		told = append(told, rewards)
		for _, name := range []string{"planes", "globals", "mask", "seat", "terminated", "truncated", "score", "opponent"} {
			told = append(told, p.field(name))
		}
	}
	return told
}

type saved struct {
	Count int    `msgpack:"count"`
	Head  []byte `msgpack:"head"`
	Games []byte `msgpack:"games"`
}

// checkpoint returns the head and the games, one by one.
func (p parts) checkpoint(t *testing.T) (head []byte, all [][]byte) {
	t.Helper()
	for _, g := range p {
		for i := range g.NumEnvs {
			var c saved
			require.NoError(t, g.Call("checkpoint", &c, u32(uint32(i))))
			require.Equal(t, 1, c.Count)
			head, all = c.Head, append(all, c.Games)
		}
	}
	return head, all
}

func (p parts) resume(t *testing.T, head []byte, all [][]byte) {
	t.Helper()
	for _, g := range p {
		require.NoError(t, g.CallSlab("resume", nil, head, bytes.Join(all[:g.NumEnvs], nil)))
		all = all[g.NumEnvs:]
	}
}

// opponentsOf gives an opponent to all seats but one. Several specs, separated by bars, are a mixture.
func opponentsOf(g *env.Game, spec string) map[int]any {
	out := map[int]any{}
	for seat := 1; seat < g.MaxSeats; seat++ {
		out[seat] = spec
		if specs := strings.Split(spec, "|"); len(specs) > 1 {
			var entries []any
			for k, s := range specs {
				entries = append(entries, s, 1+0.3*float64(k))
			}
			out[seat] = mixed(entries...)
		}
	}
	return out
}

// Games go on exactly on another server, with another number of workers and in other handles: every game, with every
// kind of opponent, in every mode.
func TestCheckpointGoesOnExactly(t *testing.T) {
	const n = 5
	here, there := start(t, real(1)), start(t, real(3))
	for _, game := range games.All {
		specs := []string{"", "random", "hand:ply=1", "learned:ply=1", "random|first|hand:ply=1"}
		switch {
		case game.MaxSeats == 1:
			specs = specs[:1]
		case testing.Short(): // with the race detector, which searches teach nothing
			specs = specs[4:]
		case game.Name == "tetrisduel":
			specs = append(specs, "hand:ply=3,width=2")
		}
		for k, spec := range specs {
			for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
				rows := []string{"seat", "acting"}[k%2]
				t.Run(fmt.Sprintf("%s %s %s %s", game.Name, spec, mode, rows), func(t *testing.T) {
					here.AwaitIdle(t.Context()) // the sessions of clients that are gone end a moment later
					there.AwaitIdle(t.Context())
					o := map[string]any{"seats": game.MaxSeats, "autoreset": mode, "rows": rows, "max_episode_steps": 17}
					if spec != "" {
						o["opponents"] = opponentsOf(game, spec)
					}
					a := openParts(t, here, game.Name, n, o, 0)
					require.NoError(t, a[0].CallSlab("reset"))
					a.play(t, 0, 15, mode == "Disabled")
					head, all := a.checkpoint(t)
					want := a.play(t, 15, 25, mode == "Disabled")
					again, same := a.checkpoint(t)
					for _, cuts := range [][]int{{0}, {0, 2, 3}} {
						b := openParts(t, there, game.Name, n, o, cuts...)
						b.resume(t, head, all)
						require.Equal(t, want, b.play(t, 15, 25, mode == "Disabled"))
						last, other := b.checkpoint(t)
						require.JSONEq(t, string(again), string(last))
						require.Equal(t, same, other)
					}
				})
			}
		}
	}
}

// rolled plays a rollout and returns its slabs and actions.
func rolled(t *testing.T, g *client.Games, policy string) (out struct {
	Slabs   []byte `msgpack:"slabs"`
	Actions []byte `msgpack:"actions"`
}) {
	t.Helper()
	require.NoError(t, g.Call("rollout", &out, 12, map[string]any{"policy": policy}))
	return out
}

// The policy of rollouts is part of a checkpoint, and so are opponents that have been replaced, until the episode ends.
func TestCheckpointHasPolicyAndOpponents(t *testing.T) {
	p := start(t, real(2))
	for _, game := range []string{"blockbattle", "tetrisduel", "toy:pick", "toy:turns", "wintetris:tick"} {
		for _, policy := range []string{"random", "hand"} {
			if policy == "hand" && game[:3] == "toy" {
				policy = "first"
			}
			o := map[string]any{"opponents": map[int]string{1: "random"}}
			if game == "wintetris:tick" {
				o = map[string]any{}
			}
			a := openParts(t, p, game, 4, o, 0)
			require.NoError(t, a[0].CallSlab("reset"))
			rolled(t, a[0], policy)
			if len(o) > 0 {
				require.NoError(t, a[0].Call("set_opponents", nil, map[int]any{1: mixed("first", 1, "random", 2)}))
			}
			require.NoError(t, a[0].Call("rollout", nil, 1, map[string]any{"policy": policy, "keep": "last"}))
			head, all := a.checkpoint(t)
			b := openParts(t, p, game, 4, o, 0)
			b.resume(t, head, all)
			require.Equal(t, rolled(t, a[0], policy), rolled(t, b[0], policy), "%s %s", game, policy)
			require.Equal(t, rolled(t, a[0], "random"), rolled(t, b[0], "random"), "%s %s", game, policy)
			for range 8 { // until the opponents are replaced everywhere
				require.Equal(t, rolled(t, a[0], policy), rolled(t, b[0], policy), "%s %s", game, policy)
			}
			b.resume(t, head, all) // into games that have a policy and opponents
			again, same := b.checkpoint(t)
			require.JSONEq(t, string(head), string(again))
			require.Equal(t, all, same)
		}
	}
}

// Games may be resumed in parts, in any order. Until all of them are, the others need a reset.
func TestResumeInParts(t *testing.T) {
	p := start(t, real(1))
	o := map[string]any{"opponents": map[int]string{1: "random"}}
	a := openParts(t, p, "blockbattle", 4, o, 0)
	require.NoError(t, a[0].CallSlab("reset"))
	a.play(t, 0, 6, false)
	var whole saved
	require.NoError(t, a[0].Call("checkpoint", &whole, nil))
	require.Equal(t, 4, whole.Count)
	head, all := a.checkpoint(t)
	require.Equal(t, bytes.Join(all, nil), whole.Games)

	b := openParts(t, p, "blockbattle", 4, o, 0)
	require.NoError(t, b[0].CallSlab("resume", u32(3, 1), head, bytes.Join([][]byte{all[3], all[1]}, nil)))
	var none saved
	require.Equal(t, wire.NeedsReset, code(t, b[0].Call("checkpoint", &none, nil)))
	require.Equal(t, wire.NeedsReset, code(t, b[0].Step(make([]byte, 8))))
	require.NoError(t, b[0].CallSlab("resume", u32(0, 2), head, bytes.Join([][]byte{all[0], all[2]}, nil)))
	require.Equal(t, a.play(t, 6, 20, false), b.play(t, 6, 20, false))

	require.NoError(t, b[0].CallSlab("resume", []byte{}, head, []byte{}), "no game at all")
}

// Responses hold as many games as fit.
func TestCheckpointComesInPages(t *testing.T) {
	g := small(t, func(c *server.Config) { real(1)(c) }, 64<<10)
	require.NoError(t, g.CallSlab("reset"))
	var c saved
	require.NoError(t, g.Call("checkpoint", &c, nil))
	require.Greater(t, c.Count, 4)
	require.Less(t, c.Count, g.NumEnvs)
	require.Less(t, len(c.Games), 64<<10)
}

// A forgetful is an agent with a long memory.
type forgetful struct{ first }

func (*forgetful) AppendMemory(dst []byte) ([]byte, error) {
	return append(dst, make([]byte, 3000)...), nil
}
func (*forgetful) RestoreMemory([]byte) error { return nil }

// A page also ends where memories are longer than expected.
func TestCheckpointPagesOfLongMemories(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Limits.MaxReply = 64 << 10
		c.Agents = func(*env.Game, bots.Text) (vec.AgentFactory, error) {
			return func(uint64) (env.Agent, error) { return &forgetful{}, nil }, nil
		}
	})
	a := openParts(t, p, "toy:pick", 50, map[string]any{"opponents": map[int]string{1: "x"}}, 0)
	require.NoError(t, a[0].CallSlab("reset"))
	var c, rest saved
	require.NoError(t, a[0].Call("checkpoint", &c, nil))
	require.Greater(t, c.Count, 10)
	require.Less(t, c.Count, 22)
	require.Greater(t, len(c.Games), 3000*c.Count)
	require.NoError(t, a[0].Call("checkpoint", &rest, u32(uint32(c.Count))))
	require.Equal(t, 1, rest.Count)
}
