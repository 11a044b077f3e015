package server_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/games"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// A counted agent counts how often it is asked.
type counted struct {
	first
	asked *atomic.Int64
}

func (c *counted) Act(ctx context.Context, s env.State, seat int) (env.Action, error) {
	c.asked.Add(1)
	return c.first.Act(ctx, s, seat)
}

func (c *counted) AppendMemory(dst []byte) ([]byte, error) { return dst, nil }
func (c *counted) RestoreMemory([]byte) error              { return nil }

// counting serves what real serves, and the agent "counted".
func counting(asked *atomic.Int64) func(c *server.Config) {
	return func(c *server.Config) {
		real(2)(c)
		agents := c.Agents
		c.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
			if t.String() == "counted" {
				return func(uint64) (env.Agent, error) { return &counted{asked: asked}, nil }, nil
			}
			return agents(g, t)
		}
	}
}

// logged steps games n times, and returns the log of all of them as replay takes it, game after game.
func logged(t *testing.T, g *client.Games, from, n int) (lengths, actions, moves []byte) {
	t.Helper()
	rows, wide := make([][]byte, g.NumEnvs), 2*g.RowsPerEnv
	byGame := make([][]byte, g.NumEnvs)
	for step := from; step < from+n; step++ {
		var all []byte
		masks := g.Field("mask")
		width := len(masks) / g.Rows
		for r := range g.Rows {
			a := uint16(0)
			if mask := masks[r*width : (r+1)*width]; bytes.ContainsFunc(mask, func(r rune) bool { return r != 0 }) {
				a = nth(mask, 0)
			}
			all = append(all, u16(a)...)
		}
		require.NoError(t, g.Step(all))
		for i := range rows {
			rows[i] = append(rows[i], all[i*wide:(i+1)*wide]...)
			if m := g.Field("moves"); m != nil {
				byGame[i] = append(byGame[i], m[i*2*vec.MovesLen:(i+1)*2*vec.MovesLen]...)
			}
		}
	}
	for range rows {
		lengths = binary.LittleEndian.AppendUint32(lengths, uint32(n))
	}
	return lengths, bytes.Join(rows, nil), bytes.Join(byGame, nil)
}

// A checkpoint and a log of the steps since bring games to where they were, on another server, without asking their
// opponents: also what final returns, and all that follows.
func TestReplayGoesOnExactly(t *testing.T) {
	const n = 4
	var asked atomic.Int64
	here, there := start(t, counting(&asked)), start(t, counting(&asked))
	for _, game := range games.All {
		for _, mode := range []string{"NextStep", "SameStep"} {
			for _, spec := range []string{"", "counted", "random|counted"} {
				if game.MaxSeats == 1 && spec != "" {
					continue
				}
				t.Run(fmt.Sprintf("%s %s %s", game.Name, mode, spec), func(t *testing.T) {
					o := map[string]any{"num_envs": n, "seed": 5, "autoreset": mode, "max_episode_steps": 6, "log": true}
					if spec != "" {
						o["opponents"] = opponentsOf(game, spec)
						o["seats"] = game.MaxSeats
					}
					var both [2]*client.Games
					for k, p := range []*place{here, there} {
						g, err := dial(t, p.unix).Open(game.Name, o)
						require.NoError(t, err)
						require.NoError(t, g.CallSlab("reset"))
						both[k] = g
					}
					a, b := both[0], both[1]
					for step := range 5 {
						logged(t, a, 0, step)
						head, all := parts{a}.checkpoint(t)
						lengths, actions, moves := logged(t, a, 0, 3+step)
						require.NoError(t, b.CallSlab("resume", nil, head, bytes.Join(all, nil)))
						before := asked.Load()
						require.NoError(t, b.Call("replay", nil, nil, lengths, actions, moves))
						more := int64(0) // a step of blocking may have more moves than the slab
						for k := 0; k < len(moves); k += 2 * vec.MovesLen {
							more += max(0, int64(moves[k])-(vec.MovesLen-1))
						}
						require.LessOrEqual(t, asked.Load()-before, more, "no opponent is asked")
						var left, right map[string]any
						require.NoError(t, a.Call("final", &left))
						require.NoError(t, b.Call("final", &right))
						require.Equal(t, left, right)
						_, all = parts{a}.checkpoint(t)
						_, same := parts{b}.checkpoint(t)
						require.Equal(t, all, same)
						require.NoError(t, b.CallSlab("clone", u32(), u32()), "to see the games")
						require.Equal(t, parts{a}.play(t, 0, 4, false), parts{b}.play(t, 0, 4, false))
					}
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
	p := start(t, real(1))
	c := dial(t, p.unix)
	for spec, reason := range map[string]string{
		"hand:time=50ms": `open: log: the opponent "hand:time=50ms" of seat 1 cannot be replayed elsewhere: ` +
			"its choices depend on the clock (time=50ms), so no other run can repeat them",
		"silent": "it is a program of its own, whose memory cannot be read",
	} {
		before := memory(t, c)
		_, err := c.Open("tetrisduel", map[string]any{"log": true, "opponents": map[int]string{1: spec}})
		require.ErrorContains(t, err, reason)
		require.Equal(t, wire.BadParams, code(t, err))
		require.Equal(t, before, memory(t, c))
	}
	g, err := c.Open("tetrisduel", map[string]any{"log": true, "num_envs": 2, "opponents": map[int]string{1: "first"}})
	require.NoError(t, err)
	before := memory(t, c)
	err = g.Call("set_opponents", nil, map[int]string{1: "hand:time=1s"})
	require.ErrorContains(t, err, `set_opponents: log: the opponent "hand:time=1s" of seat 1 cannot be replayed elsewhere`)
	require.Equal(t, before, memory(t, c))
	require.Equal(t, wire.NeedsReset, code(t, g.Call("replay", nil, nil, u32(0, 0), nil, nil)))
	require.NoError(t, g.CallSlab("reset"))
	require.NoError(t, g.Call("replay", nil, nil, u32(0, 0), []byte{}, []byte{}))
	lengths, actions, moves := logged(t, g, 0, 3)
	for says, params := range map[string][]any{
		"lengths has 8 bytes, want 4 for each of 1 games":             {u32(1), lengths, actions, moves},
		"12 bytes of actions and 0 of moves, want 12 and 768: 2 and ": {nil, lengths, actions, nil},
		"games names game 2, want 0 to 1":                             {u32(2), u32(0), nil, nil},
		"0 bytes of actions":                                          {nil, u32(1<<32-1, 1<<32-1), nil, nil},
	} {
		err := g.Call("replay", nil, params...)
		require.ErrorContains(t, err, says)
		require.Equal(t, wire.BadParams, code(t, err))
	}
	actions[0] = 0xF0
	err = g.Call("replay", nil, nil, lengths, actions, moves)
	require.Equal(t, wire.Opponent, code(t, err))
	require.ErrorContains(t, err, "the log does not fit the environment: step 0:")
	require.NoError(t, g.CallSlab("reset"), "the games go on")
}

// Games that have been received can be saved while others are in flight.
func TestCheckpointBesideOthers(t *testing.T) {
	g, err := dial(t, start(t, nil).unix).Open("toy:pick", map[string]any{"num_envs": 3, "opponents": map[int]string{1: "first"}})
	require.NoError(t, err)
	require.NoError(t, g.CallSlab("reset"))
	require.NoError(t, g.Call("send", nil, u32(1), u16(65535)))
	var c saved
	require.NoError(t, g.Call("checkpoint", &c, u32(0, 2)))
	require.Equal(t, 2, c.Count)
	for _, games := range []any{nil, u32(1), u32(0, 1)} {
		require.ErrorContains(t, g.Call("checkpoint", &c, games), "call recv first")
	}
}
