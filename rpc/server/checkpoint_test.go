package server_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
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
	return first(ctx, s.Legal(seat, nil))
}

// real serves all games with all agents.
func real(workers int) func(c *server.Config) {
	return func(c *server.Config) {
		c.Games, c.Workers = append(games.All[:len(games.All):len(games.All)], toy.Pick, toy.Turns), workers
		c.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
			f, err := bots.New(g, t)
			return vec.AgentFactory(f), err
		}
		addAgent(c, "silent", func(uint64) (env.Agent, error) { return silent{}, nil })
	}
}

// parts are games in several handles, in order.
type parts []*client.Games

// openParts opens n games in handles that begin with the given games.
func openParts(t *testing.T, p *place, game string, n int, options map[string]any, first ...int) (all parts) {
	t.Helper()
	first = append(first, n)
	for k, start := range first[:len(first)-1] {
		o := map[string]any{"num_envs": first[k+1] - start, "first": start, "seed": 3}
		maps.Copy(o, options)
		all = append(all, openGames(t, dial(t, p.unix), game, o))
	}
	return all
}

// startParts opens n games in one handle and resets them.
func startParts(t *testing.T, p *place, game string, n int, options map[string]any) parts {
	t.Helper()
	all := openParts(t, p, game, n, options, 0)
	require.NoError(t, all[0].Reset(nil))
	return all
}

// play steps the games n times with actions that depend on the step and on a row's mask. It returns all that every game
// shows after each step.
func (p parts) play(t *testing.T, from, n int, disabled bool) (told []string) {
	t.Helper()
	for step := from; step < from+n; step++ {
		for _, g := range p {
			masks := g.Field("mask")
			var actions []byte
			for mask := range slices.Chunk(masks, len(masks)/g.Rows) {
				actions = append(actions, u16(legalOf(mask, uint64(crc32.ChecksumIEEE(mask))+uint64(step)))...)
			}
			require.NoError(t, g.Step(actions))
			told = append(told, gamesOf(g, g.Slab, g.NumEnvs)...)
			ended := or(g.Field("terminated"), g.Field("truncated"))
			if disabled && bytes.Contains(ended, []byte{1}) {
				require.NoError(t, g.Reset(map[string]any{"mask": ended}))
			}
		}
	}
	return told
}

// checkpoint returns the head and the games, one by one.
func (p parts) checkpoint(t *testing.T) (head []byte, all [][]byte) {
	t.Helper()
	for _, g := range p {
		for i := range g.NumEnvs {
			c := ask(t, g, "checkpoint", u32(uint32(i)))
			require.Equal(t, 1, c["count"])
			head, all = c.bytes("head"), append(all, c.bytes("games"))
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

// is wants games to be as a checkpoint says.
func (p parts) is(t *testing.T, head []byte, all [][]byte) {
	t.Helper()
	now, same := p.checkpoint(t)
	require.JSONEq(t, string(head), string(now))
	require.Equal(t, all, same)
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
					a := startParts(t, here, game.Name, n, o)
					a.play(t, 0, 15, mode == "Disabled")
					head, all := a.checkpoint(t)
					want := a.play(t, 15, 25, mode == "Disabled")
					again, same := a.checkpoint(t)
					for _, cuts := range [][]int{{0}, {0, 2, 3}} {
						b := openParts(t, there, game.Name, n, o, cuts...)
						b.resume(t, head, all)
						require.Equal(t, want, b.play(t, 15, 25, mode == "Disabled"))
						b.is(t, again, same)
					}
				})
			}
		}
	}
}

// rolled plays a rollout.
func rolled(t *testing.T, g *client.Games, policy string) fields {
	t.Helper()
	return ask(t, g, "rollout", 12, map[string]any{"policy": policy})
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
			a, b := startParts(t, p, game, 4, o), openParts(t, p, game, 4, o, 0)
			rolled(t, a[0], policy)
			if len(o) > 0 {
				require.NoError(t, a[0].Call("set_opponents", nil, map[int]any{1: mixed("first", 1, "random", 2)}))
			}
			require.NoError(t, a[0].Call("rollout", nil, 1, map[string]any{"policy": policy, "keep": "last"}))
			head, all := a.checkpoint(t)
			b.resume(t, head, all)
			for k := range 10 { // until the opponents are replaced everywhere
				now := policy
				if k == 1 {
					now = "random"
				}
				require.Equal(t, rolled(t, a[0], now), rolled(t, b[0], now), "%s %s", game, policy)
			}
			b.resume(t, head, all) // into games that have a policy and opponents
			b.is(t, head, all)
		}
	}
}

// Games may be resumed in parts, in any order. Until all of them are, the others need a reset.
func TestResumeInParts(t *testing.T) {
	p := start(t, real(1))
	o := map[string]any{"opponents": map[int]string{1: "random"}}
	a, b := startParts(t, p, "blockbattle", 4, o), openParts(t, p, "blockbattle", 4, o, 0)
	a.play(t, 0, 6, false)
	whole := ask(t, a[0], "checkpoint", nil)
	require.Equal(t, 4, whole["count"])
	head, all := a.checkpoint(t)
	require.Equal(t, bytes.Join(all, nil), whole["games"])

	require.NoError(t, b[0].CallSlab("resume", u32(3, 1), head, append(all[3], all[1]...)))
	require.Equal(t, wire.NeedsReset, code(t, b[0].Call("checkpoint", nil, nil)))
	require.Equal(t, wire.NeedsReset, code(t, b[0].Step(make([]byte, 8))))
	require.NoError(t, b[0].CallSlab("resume", u32(0, 2), head, append(all[0], all[2]...)))
	require.Equal(t, a.play(t, 6, 20, false), b.play(t, 6, 20, false))

	require.NoError(t, b[0].CallSlab("resume", []byte{}, head, []byte{}), "no game at all")
}

// A page of a checkpoint also ends where memories are longer than expected.
func TestCheckpointPagesOfLongMemories(t *testing.T) {
	p := start(t, func(c *server.Config) {
		c.Limits.MaxReply = 64 << 10
		addAgent(c, "forgetful", func(uint64) (env.Agent, error) { return &forgetful{actor{choose: first}}, nil })
	})
	g := startGames(t, dial(t, p.unix), "toy:pick", map[string]any{"num_envs": 50, "opponents": map[int]string{1: "forgetful"}})
	c := ask(t, g, "checkpoint", nil)
	count := c["count"].(int)
	require.True(t, 10 < count && count < 22, count)
	require.Greater(t, len(c.bytes("games")), 3000*count)
	require.Equal(t, 1, ask(t, g, "checkpoint", u32(uint32(count)))["count"])
}

// A forgetful is an agent with a long memory.
type forgetful struct{ actor }

func (*forgetful) AppendMemory(dst []byte) ([]byte, error) {
	return append(dst, make([]byte, 3000)...), nil
}
func (*forgetful) RestoreMemory([]byte) error { return nil }

// logged steps games n times, and returns the log of all of them as replay takes it, game after game.
func logged(t *testing.T, g *client.Games, n int) (lengths, actions, moves []byte) {
	t.Helper()
	rows, byGame := make([][]byte, g.NumEnvs), make([][]byte, g.NumEnvs)
	for range n {
		masks := g.Field("mask")
		var all []byte
		for mask := range slices.Chunk(masks, len(masks)/g.Rows) {
			all = append(all, u16(legalOf(mask, 0))...)
		}
		require.NoError(t, g.Step(all))
		for i := range rows {
			wide := 2 * g.RowsPerEnv
			rows[i] = append(rows[i], all[i*wide:(i+1)*wide]...)
			if m := g.Field("moves"); m != nil {
				byGame[i] = append(byGame[i], m[i*2*vec.MovesLen:(i+1)*2*vec.MovesLen]...)
			}
		}
	}
	return u32(slices.Repeat([]uint32{uint32(n)}, g.NumEnvs)...), bytes.Join(rows, nil), bytes.Join(byGame, nil)
}

// A checkpoint and a log of the steps since bring games to where they were, on another server, without asking their
// opponents: also what final returns, and all that follows. Episodes in progress are recorded there, whole and once.
func TestReplayGoesOnExactly(t *testing.T) {
	var asked atomic.Int64
	counting := func(c *server.Config) {
		real(2)(c)
		addAgent(c, "counted", playing(func(ctx context.Context, legal []env.Action) (env.Action, error) {
			asked.Add(1)
			return first(ctx, legal)
		}))
	}
	here, there := start(t, counting), start(t, counting)
	for _, game := range games.All {
		for _, mode := range []string{"NextStep", "SameStep"} {
			for _, spec := range []string{"", "counted", "random|counted"} {
				if game.MaxSeats == 1 && spec != "" {
					continue
				}
				t.Run(fmt.Sprintf("%s %s %s", game.Name, mode, spec), func(t *testing.T) {
					o := map[string]any{"seed": 5, "autoreset": mode, "max_episode_steps": 6, "log": true}
					if spec != "" {
						o["opponents"] = opponentsOf(game, spec)
						o["seats"] = game.MaxSeats
					}
					left, right := openParts(t, here, game.Name, 4, o, 0), openParts(t, there, game.Name, 4, o, 0)
					a, b := left[0], right[0]
					require.NoError(t, b.Call("record", nil, map[string]any{"every": 2}))
					recordOne(t, a, 2)
					recorded := 0
					for step := range 5 {
						logged(t, a, step)
						fetch(t, a)
						c := ask(t, a, "checkpoint", nil, map[string]any{"recordings": true})
						lengths, actions, moves := logged(t, a, 3+step)
						require.NoError(t, b.CallSlab("resume", nil, c["head"], c["games"], map[string]any{"recordings": c["recordings"]}))
						before := asked.Load()
						require.NoError(t, b.Call("replay", nil, nil, lengths, actions, moves))
						more := int64(0) // a step of blocking may have more moves than the slab
						for k := 0; k < len(moves); k += 2 * vec.MovesLen {
							more += max(0, int64(moves[k])-(vec.MovesLen-1))
						}
						require.LessOrEqual(t, asked.Load()-before, more, "no opponent is asked")
						require.Equal(t, ask(t, a, "final"), ask(t, b, "final"))
						_, all := left.checkpoint(t)
						_, same := right.checkpoint(t)
						require.Equal(t, all, same)
						require.NoError(t, b.CallSlab("clone", nil, nil), "to see the games")
						require.Equal(t, left.play(t, 0, 4, false), right.play(t, 0, 4, false))
						want, got := fetch(t, a), fetch(t, b)
						require.ElementsMatch(t, linesOf(want), linesOf(got))
						recorded += len(recordsIn(t, got.bytes("lines"), game))
						require.Equal(t, recorded, got["finished"])
						if step == 0 { // later ones replace episodes in progress
							require.Equal(t, []any{0, 0}, []any{got["dropped"], got["interrupted"]})
						}
					}
					require.Positive(t, recorded)
					if spec == "counted" {
						require.NotZero(t, asked.Load())
					}
				})
			}
		}
	}
}

// What a log is for is refused where it cannot work, and malformed requests are.
func TestReplayRefuses(t *testing.T) {
	c := dial(t, start(t, real(1)).unix)
	for spec, reason := range map[string]string{
		"hand:time=50ms": `open: log: the opponent "hand:time=50ms" of seat 1 cannot be replayed elsewhere: ` +
			"its choices depend on the clock (time=50ms), so no other run can repeat them",
		"silent": "it is a program of its own, whose memory cannot be read",
	} {
		before := memory(t, c)
		_, err := c.Open("tetrisduel", map[string]any{"log": true, "opponents": map[int]string{1: spec}})
		refused(t, wire.BadParams, reason, err)
		require.Equal(t, before, memory(t, c))
	}
	g := openGames(t, c, "tetrisduel", map[string]any{"log": true, "num_envs": 2, "opponents": map[int]string{1: "first"}})
	before := memory(t, c)
	require.ErrorContains(t, g.Call("set_opponents", nil, map[int]string{1: "hand:time=1s"}),
		`set_opponents: log: the opponent "hand:time=1s" of seat 1 cannot be replayed elsewhere`)
	require.Equal(t, before, memory(t, c))
	require.Equal(t, wire.NeedsReset, code(t, g.Call("replay", nil, nil, u32(0, 0), nil, nil)))
	require.NoError(t, g.Reset(nil))
	require.NoError(t, g.Call("replay", nil, nil, u32(0, 0), []byte{}, []byte{}))
	lengths, actions, moves := logged(t, g, 3)
	for says, params := range map[string][]any{
		"lengths has 8 bytes, want 4 for each of 1 games":             {u32(1), lengths, actions, moves},
		"12 bytes of actions and 0 of moves, want 12 and 768: 2 and ": {nil, lengths, actions, nil},
		"games names game 2, want 0 to 1":                             {u32(2), u32(0), nil, nil},
		"0 bytes of actions":                                          {nil, u32(1<<32-1, 1<<32-1), nil, nil},
	} {
		refused(t, wire.BadParams, says, g.Call("replay", nil, params...))
	}
	actions[0] = 0xF0
	refused(t, wire.Opponent, "the log does not fit the environment: step 0:", g.Call("replay", nil, nil, lengths, actions, moves))
	require.NoError(t, g.Reset(nil), "the games go on")
}
