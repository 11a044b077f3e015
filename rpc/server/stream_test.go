package server_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/agents/bots"
	"blockyard/env"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// received is the result of recv.
type received struct {
	Envs []byte `msgpack:"envs"`
	Slab []byte `msgpack:"slab"`
}

func (r *received) games() (out []uint32) {
	for k := 0; k < len(r.Envs); k += 4 {
		out = append(out, binary.LittleEndian.Uint32(r.Envs[k:]))
	}
	return out
}

// gamesOf cuts the slab of n games into the bytes of each game, field by field.
func gamesOf(g *client.Games, slab []byte, n int) []string {
	out, at := make([]string, n), 0
	for _, f := range g.Layout {
		at = (at + 63) &^ 63
		each := f.Len / g.NumEnvs
		for k := range out {
			out[k] += f.Name + ":" + string(slab[at+k*each:at+(k+1)*each]) + ";"
		}
		at += (n*each + 7) &^ 7
	}
	return out
}

// plan returns actions for one game, which depend only on its masks, its number and how often it was stepped.
func plan(g *client.Games, part string, game, step int) (out []byte) {
	_, masks, _ := strings.Cut(part, "mask:")
	each := 0
	for _, f := range g.Layout {
		if f.Name == "mask" {
			each = f.Len / g.Rows
		}
	}
	for r := range g.RowsPerEnv {
		var legal []uint16
		for k := range each {
			for b := masks[r*each+k]; b != 0; b &= b - 1 {
				legal = append(legal, uint16(k*8+bits.TrailingZeros8(b)))
			}
		}
		a := uint16(0xffff)
		if len(legal) > 0 {
			a = legal[(7*game+13*step+r)%len(legal)]
		}
		out = binary.LittleEndian.AppendUint16(out, a)
	}
	return out
}

// Games that are sent in any order and received as they finish get the bytes that step gives them: over the socket,
// and in slots.
func TestStreamSaysTheSame(t *testing.T) {
	const games, steps = 5, 40
	for _, o := range []map[string]any{
		{}, {"autoreset": "SameStep", "packed": true, "opponents": map[int]string{1: "first"}},
		{"illegal": "penalty", "rows": "acting", "max_episode_steps": 7},
	} {
		for _, game := range []string{"toy:turns", "blockbattle"} {
			for _, slots := range []int{0, games} {
				t.Run(fmt.Sprint(game, o, slots), func(t *testing.T) {
					options := map[string]any{"num_envs": games, "seed": 3}
					for k, v := range o {
						options[k] = v
					}
					p := start(t, nil)
					want := make([][]string, games)
					g, err := dial(t, p.unix).Open(game, options)
					require.NoError(t, err)
					require.NoError(t, g.Reset(nil))
					for step := range steps + 1 {
						var actions []byte
						for i, part := range gamesOf(g, g.Slab, games) {
							want[i] = append(want[i], part)
							actions = append(actions, plan(g, part, i, step)...)
						}
						require.NoError(t, g.Step(actions))
					}
					g, err = dial(t, p.unix).Open(game, options)
					require.NoError(t, err)
					require.Equal(t, want, streamed(t, g, games, steps, slots))
				})
			}
		}
	}
}

// streamed steps every game this often through send and recv and returns what was received.
func streamed(t *testing.T, g *client.Games, games, steps, slots int) [][]string {
	require.NoError(t, g.Reset(nil))
	seen := make([][]string, games)
	for i, part := range gamesOf(g, g.Slab, games) {
		seen[i] = append(seen[i], part)
	}
	var memory []byte
	if slots > 0 {
		memory = sharedSlab(t, g)
	}
	send := func(games ...uint32) {
		var actions []byte
		for _, i := range games {
			actions = append(actions, plan(g, seen[i][len(seen[i])-1], int(i), len(seen[i])-1)...)
		}
		require.NoError(t, g.Call("send", nil, u32(games...), actions))
	}
	send(3, 1)
	send(4, 0, 2)
	for left := games * steps; left > 0; {
		var r received
		params := []any{1 + left%3, games, 60_000}
		if slots > 0 {
			params = append(params, 0)
		}
		require.NoError(t, g.Call("recv", &r, params...))
		got := r.games()
		if slots > 0 {
			require.Nil(t, r.Slab)
			require.LessOrEqual(t, len(got), slots)
			r.Slab = memory
		}
		for k, part := range gamesOf(g, r.Slab, len(got)) {
			i := got[k]
			seen[i] = append(seen[i], part)
			if left--; len(seen[i]) <= steps {
				send(i)
			}
		}
	}
	var r received
	require.NoError(t, g.Call("recv", &r, 1, 1, 60_000), "nothing is in flight: there is nothing to wait for")
	require.Empty(t, r.Envs)
	return seen
}

// A stepped opponent holds its game back, and nothing else: the other games can be stepped and looked at.
func TestStreamBesideASlowGame(t *testing.T) {
	open := make(chan struct{})
	var made atomic.Int32
	p := start(t, func(c *server.Config) {
		c.Workers = 2
		before := c.Agents
		c.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
			if t.String() != "one gate" {
				return before(g, t)
			}
			return func(uint64) (env.Agent, error) {
				if made.Add(1) == 1 {
					return &gate{open: open}, nil
				}
				return &first{}, nil
			}, nil
		}
	})
	options := map[string]any{"num_envs": 16, "seed": 1, "opponents": map[int]string{1: "one gate"}}
	g, err := dial(t, p.unix).Open("toy:pick", options)
	require.NoError(t, err)
	require.NoError(t, g.Reset(nil))
	none := func(n int) []byte { return []byte(strings.Repeat("\xff", 2*n)) }
	for i := range uint32(16) {
		require.NoError(t, g.Call("send", nil, u32(i), none(1)))
	}
	var r received
	require.NoError(t, g.Call("recv", &r, 15, 16, 60_000))
	idle := r.games()
	require.Len(t, idle, 15)
	for range 5 {
		require.NoError(t, g.Call("send", nil, u32(idle...), none(len(idle))))
		require.NoError(t, g.Call("recv", &r, len(idle), 16, 60_000))
		require.ElementsMatch(t, idle, r.games())
	}
	for _, method := range []string{"legal", "afterstates", "observe", "snapshot"} {
		require.NoError(t, g.Call(method, nil, u32(idle[0])), method)
	}
	require.NoError(t, g.Call("render", nil, idle[0]))
	require.NoError(t, g.Call("final", nil))
	for method, params := range map[string][]any{
		"step": {none(16)}, "clone": {u32(0), u32(1)}, "rollout": {1}, "checkpoint": {},
	} {
		err := g.Call(method, nil, params...)
		require.Equal(t, wire.BadParams, code(t, err), method)
		require.ErrorContains(t, err, "have not been received: call recv first")
	}
	var stats struct {
		InFlight int `msgpack:"in_flight"`
		Workers  int `msgpack:"workers"`
	}
	require.NoError(t, g.Call("stream_stats", &stats))
	require.Equal(t, 1, stats.InFlight)
	require.Equal(t, 2, stats.Workers)
	close(open)
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "last"}), "it waits for the games being stepped")
	require.NoError(t, g.Call("recv", &r, stats.InFlight, 16, 60_000))
	require.Len(t, r.games(), stats.InFlight)
}

// A recv that waits gives way to the next request, and ends with its connection.
func TestStreamStopsWaiting(t *testing.T) {
	change, open := gated(func(c *server.Config) {})
	defer close(open)
	p := start(t, change)
	before := inUse(t)
	options := map[string]any{"num_envs": 1, "opponents": map[int]string{1: "gate"}}
	conn := greeted(t, p.unix, request(t, "open", "toy:pick", options), request(t, "reset", 1),
		request(t, "send", 1, u32(0), u16(65535)))
	begun := time.Now()
	require.Zero(t, asks(t, conn, request(t, "recv", 1, 1, 1, 50)))
	require.GreaterOrEqual(t, time.Since(begun), 50*time.Millisecond)
	_, err := conn.Write(request(t, "recv", 1, 1, 1, 60_000))
	require.NoError(t, err)
	time.Sleep(20 * time.Millisecond)
	require.Zero(t, asks(t, conn, request(t, "ping")), "the answer to recv")
	require.Zero(t, answer(t, conn))
	require.Less(t, time.Since(begun), time.Minute, "it did not wait to the end")
	_, err = conn.Write(request(t, "recv", 1, 1, 1, 60_000))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	settled(t, before)
}

func TestStreamBadRequests(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 4 << 20 })
	c := dial(t, p.unix)
	g, err := c.Open("toy:pick", map[string]any{"num_envs": 3, "opponents": map[int]string{1: "first"}})
	require.NoError(t, err)
	require.Equal(t, wire.NeedsReset, code(t, g.Call("send", nil, u32(0), u16(65535))))
	require.Equal(t, wire.NeedsReset, code(t, g.Call("recv", nil, 1, 1, 0)))
	require.NoError(t, g.Reset(nil))
	for _, r := range []struct {
		want   int
		method string
		params []any
	}{
		{wire.BadParams, "send", []any{[]byte{1}, []byte{}}}, {wire.BadParams, "send", []any{u32(0), u16(1, 2)}},
		{wire.BadParams, "send", []any{u32(3), u16(1)}}, {wire.BadParams, "send", []any{u32(1, 1), u16(65535, 65535)}},
		{wire.BadParams, "send", []any{u32(0, 1, 2, 0), u16(0, 0, 0, 0)}}, {wire.Illegal, "send", []any{u32(1), u16(999)}},
		{wire.BadParams, "send", []any{"all", u16(1)}},
		{wire.BadParams, "recv", []any{0, 1, 0}}, {wire.BadParams, "recv", []any{2, 1, 0}},
		{wire.BadParams, "recv", []any{1, 4, 0}}, {wire.BadParams, "recv", []any{1, 3, 1 << 30}},
		{wire.BadParams, "recv", []any{1, 3, 0, 0}}, {wire.BadParams, "recv", []any{1, 3}},
		{wire.BadParams, "share", []any{1, 4}}, {wire.BadParams, "share", []any{1, 0}},
	} {
		require.Equal(t, r.want, code(t, g.Call(r.method, nil, r.params...)), fmt.Sprint(r))
	}
	require.NoError(t, g.Call("share", nil, 1, 2))
	require.Equal(t, wire.BadParams, code(t, g.Call("step_slot", nil, 0)), "a slot of two games")
	for method, params := range map[string][]any{
		"reset": {map[string]any{"slot": 0}}, "rollout": {1, map[string]any{"slot": 0}},
	} {
		require.Equal(t, wire.BadParams, code(t, g.Call(method, nil, params...)), method)
	}
	require.NoError(t, g.Call("send", nil, u32(0, 2), u16(65535, 65535)))
	require.Equal(t, wire.BadParams, code(t, g.Call("send", nil, u32(1, 2), u16(65535, 65535))), "2 is in flight")
	require.NoError(t, g.Reset(nil), "drops what was not received")
	var r received
	require.NoError(t, g.Call("recv", &r, 1, 3, 60_000))
	require.Empty(t, r.Envs)
	require.NoError(t, g.Step(u16(65535, 65535, 65535)))
	require.NoError(t, g.Call("close", nil))
}

type failing struct{}

func (failing) Act(context.Context, env.State, int) (env.Action, error) {
	return env.None, errors.New("no idea")
}

// After an opponent failed, recv says so, and a reset of all games lets the handle go on.
func TestStreamAfterFailure(t *testing.T) {
	p := start(t, func(c *server.Config) {
		before := c.Agents
		c.Agents = func(g *env.Game, t bots.Text) (vec.AgentFactory, error) {
			if t.String() == "fails" {
				return func(uint64) (env.Agent, error) { return failing{}, nil }, nil
			}
			return before(g, t)
		}
	})
	g, err := dial(t, p.unix).Open("toy:pick", map[string]any{"num_envs": 8, "opponents": map[int]string{1: "fails"}})
	require.NoError(t, err)
	require.NoError(t, g.Reset(nil))
	none := []byte(strings.Repeat("\xff", 2*8))
	games := u32(0, 1, 2, 3, 4, 5, 6, 7)
	require.NoError(t, g.Call("send", nil, games, none))
	require.Equal(t, wire.Opponent, code(t, g.Call("recv", nil, 8, 8, 60_000)))
	require.Equal(t, wire.Opponent, code(t, g.Call("send", nil, games, none)), "until they are reset")
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
	require.NoError(t, g.Reset(nil))
	require.NoError(t, g.Call("send", nil, games, none))
	var r received
	require.NoError(t, g.Call("recv", &r, 8, 8, 60_000))
	require.Len(t, r.games(), 8)
}
