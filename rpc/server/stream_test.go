package server_test

import (
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/games"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// recv receives from least up to most games, and returns which.
func recv(t testing.TB, g *client.Games, least, most int) []uint32 {
	return numbers[uint32](ask(t, g, "recv", least, most, 60_000).bytes("envs"))
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

// Games that are sent in any order and received as they finish get the bytes that step gives them: over the socket,
// and in slots. They are recorded alike, and their records can be fetched meanwhile.
func TestStreamSaysTheSame(t *testing.T) {
	const steps = 40
	for _, o := range []map[string]any{
		{}, {"autoreset": "SameStep", "packed": true, "opponents": map[int]string{1: "first"}},
		{"illegal": "penalty", "rows": "acting", "max_episode_steps": 7},
	} {
		for _, game := range []string{"toy:turns", "blockbattle"} {
			for _, slots := range []bool{false, true} {
				t.Run(fmt.Sprint(game, o, slots), func(t *testing.T) {
					options := maps.Clone(o)
					options["num_envs"], options["seed"] = 5, 3
					want, got := opened(t, game, options), opened(t, game, options)
					recordOne(t, want, 1)
					recordOne(t, got, 1)
					var told, moves [5][]string // by game and step
					var records [2][]byte
					var c chooser
					for range steps {
						actions := c.of(want)
						require.NoError(t, want.Step(actions))
						for i, part := range gamesOf(want, want.Slab, 5) {
							told[i] = append(told[i], part)
							moves[i] = append(moves[i], string(actions[i*len(actions)/5:(i+1)*len(actions)/5]))
						}
						records[0] = append(records[0], fetch(t, want).bytes("lines")...)
					}
					var slot []byte
					params := []any{5, 60_000}
					if slots {
						slot, params = sharedSlab(t, got), append(params, 0)
					}
					var at [5]int // how often each game has been stepped
					send := func(games ...uint32) {
						actions := ""
						for _, i := range games {
							actions += moves[i][at[i]]
						}
						require.NoError(t, got.Call("send", nil, u32(games...), []byte(actions)))
					}
					send(3, 1)
					send(4, 0, 2)
					for left := 5 * steps; left > 0; {
						r := ask(t, got, "recv", append([]any{1 + left%3}, params...)...)
						require.Equal(t, slots, r["slab"] == nil)
						list := numbers[uint32](r.bytes("envs"))
						for k, part := range gamesOf(got, append(slot, r.bytes("slab")...), len(list)) {
							i := list[k]
							require.Equal(t, told[i][at[i]], part)
							left--
							if at[i]++; at[i] < steps {
								send(i)
							}
						}
						records[1] = append(records[1], fetch(t, got).bytes("lines")...)
					}
					require.Empty(t, recv(t, got, 1, 1), "nothing is in flight: there is nothing to wait for")
					require.NotEmpty(t, recordsIn(t, records[1], games.Find(config().Games, game)))
					require.ElementsMatch(t, strings.Split(string(records[0]), "\n"), strings.Split(string(records[1]), "\n"))
				})
			}
		}
	}
}

// A stepped opponent holds its game back, and nothing else: the other games can be stepped and looked at.
func TestStreamBesideASlowGame(t *testing.T) {
	open := make(chan struct{})
	var made atomic.Int32
	p := start(t, func(c *server.Config) {
		c.Workers = 2
		addAgent(c, "one gate", func(seed uint64) (env.Agent, error) {
			if made.Add(1) == 1 {
				return playing(behind(open))(seed)
			}
			return playing(first)(seed)
		})
	})
	g := startGames(t, dial(t, p.unix), "toy:pick",
		map[string]any{"num_envs": 16, "seed": 1, "opponents": map[int]string{1: "one gate"}})
	for i := range uint32(16) {
		require.NoError(t, g.Call("send", nil, u32(i), none(1)))
	}
	idle := recv(t, g, 15, 16)
	require.Len(t, idle, 15)
	for range 5 {
		require.NoError(t, g.Call("send", nil, u32(idle...), none(len(idle))))
		require.ElementsMatch(t, idle, recv(t, g, len(idle), 16))
	}
	for _, method := range []string{"legal", "afterstates", "observe", "snapshot", "checkpoint"} {
		require.NoError(t, g.Call(method, nil, u32(idle[0])), method)
	}
	require.NoError(t, g.Call("render", nil, idle[0]))
	require.NoError(t, g.Call("final", nil))
	for method, params := range map[string][]any{
		"step": {none(16)}, "clone": {u32(0), u32(1)}, "rollout": {1}, "checkpoint": {},
	} {
		refused(t, wire.BadParams, "have not been received: call recv first", g.Call(method, nil, params...))
	}
	all := u32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
	require.ErrorContains(t, g.Call("checkpoint", nil, all), "call recv first", "one of these games is in flight")
	busy := ask(t, g, "stream_stats")
	require.Equal(t, []any{1, 2}, []any{busy["in_flight"], busy["workers"]})
	close(open)
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "last"}), "it waits for the games being stepped")
	require.Len(t, recv(t, g, 1, 16), 1)
}

// A recv that waits gives way to the next request, and ends with its connection.
func TestStreamStopsWaiting(t *testing.T) {
	change, open := gated(func(c *server.Config) {})
	defer close(open)
	p := start(t, change)
	before := inUse()
	options := map[string]any{"num_envs": 1, "opponents": map[int]string{1: "gate"}}
	conn := greeted(t, p.unix, request("open", "toy:pick", options), request("reset", 1),
		request("send", 1, u32(0), u16(65535)))
	begun := time.Now()
	require.Zero(t, asks(t, conn, request("recv", 1, 1, 1, 50)))
	require.GreaterOrEqual(t, time.Since(begun), 50*time.Millisecond)
	write(conn, request("recv", 1, 1, 1, 60_000))
	time.Sleep(20 * time.Millisecond)
	require.Zero(t, asks(t, conn, request("ping")), "the answer to recv")
	require.Zero(t, answer(t, conn))
	require.Less(t, time.Since(begun), time.Minute, "it did not wait to the end")
	write(conn, request("recv", 1, 1, 1, 60_000))
	require.NoError(t, conn.Close())
	settled(t, before)
}

func TestStreamBadRequests(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 4 << 20 })
	g := openGames(dial(t, p.unix), "toy:pick", map[string]any{"num_envs": 3, "opponents": map[int]string{1: "first"}})
	refuses(t, g, wire.NeedsReset, map[string][][]any{"send": {{u32(0), u16(65535)}}, "recv": {{1, 1, 0}}})
	require.NoError(t, g.Reset(nil))
	refuses(t, g, wire.BadParams, map[string][][]any{
		"send": {{[]byte{1}, []byte{}}, {u32(0), u16(1, 2)}, {u32(3), u16(1)}, {u32(1, 1), u16(65535, 65535)},
			{u32(0, 1, 2, 0), u16(0, 0, 0, 0)}, {"all", u16(1)}},
		"recv":  {{0, 1, 0}, {2, 1, 0}, {1, 4, 0}, {1, 3, 1 << 30}, {1, 3, 0, 0}, {1, 3}},
		"share": {{1, 4}, {1, 0}}, "set_opponents": {{map[int]string{0: "first"}}},
	})
	require.Equal(t, wire.Illegal, code(t, g.Call("send", nil, u32(1), u16(999))))
	require.NoError(t, g.Call("share", nil, 1, 2))
	slot := map[string]any{"slot": 0} // of two games
	refuses(t, g, wire.BadParams, map[string][][]any{"step_slot": {{0}}, "reset": {{slot}}, "rollout": {{1, slot}}})
	require.NoError(t, g.Call("send", nil, u32(0, 2), none(2)))
	require.Equal(t, wire.BadParams, code(t, g.Call("send", nil, u32(1, 2), none(2))), "2 is in flight")
	require.NoError(t, g.Reset(nil), "drops what was not received")
	require.Empty(t, recv(t, g, 1, 3))
	require.NoError(t, g.Step(none(3)))
	require.NoError(t, g.Call("close", nil))
}
