package server_test

import (
	"context"
	"errors"
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

// received is the result of recv.
type received struct {
	Envs []byte `msgpack:"envs"`
	Slab []byte `msgpack:"slab"`
}

// recv receives from least up to most games, and returns which.
func recv(t testing.TB, g *client.Games, least, most int) []uint32 {
	t.Helper()
	return numbers[uint32](result[received](t, g, "recv", least, most, 60_000).Envs)
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

// A story is what each of some games has shown so far. Their next actions depend on nothing else.
type story struct {
	*client.Games
	told    [][]string
	slot    []byte // where recv writes; nil for its response
	records []byte
}

// begin resets games, all of whose episodes are recorded.
func begin(t testing.TB, g *client.Games) *story {
	t.Helper()
	recordOne(t, g, 1)
	s := &story{Games: g}
	for _, part := range gamesOf(g, g.Slab, g.NumEnvs) {
		s.told = append(s.told, []string{part})
	}
	return s
}

// plan returns the next actions of some games.
func (s *story) plan(games ...uint32) (actions []byte) {
	for _, i := range games {
		steps := len(s.told[i]) - 1
		_, masks, _ := strings.Cut(s.told[i][steps], "mask:")
		for r := range s.RowsPerEnv {
			width := len(s.Field("mask")) / s.Rows
			actions = append(actions, u16(legalOf([]byte(masks[r*width:(r+1)*width]), uint64(7*int(i)+13*steps+r)))...)
		}
	}
	return actions
}

// numbered are the numbers of all games.
func (s *story) numbered() (games []uint32) {
	for i := range s.told {
		games = append(games, uint32(i))
	}
	return games
}

// together steps all games at once so often.
func (s *story) together(t testing.TB, steps int) {
	t.Helper()
	for range steps {
		require.NoError(t, s.Step(s.plan(s.numbered()...)))
		for i, part := range gamesOf(s.Games, s.Slab, s.NumEnvs) {
			s.told[i] = append(s.told[i], part)
		}
		s.records = append(s.records, fetch(t, s.Games).Lines...)
	}
}

func (s *story) send(t testing.TB, games ...uint32) {
	t.Helper()
	require.NoError(t, s.Call("send", nil, u32(games...), s.plan(games...)))
}

// take receives games and returns which.
func (s *story) take(t testing.TB, least int) []uint32 {
	t.Helper()
	params := []any{least, s.NumEnvs, 60_000}
	if s.slot != nil {
		params = append(params, 0)
	}
	r := result[received](t, s, "recv", params...)
	if s.slot != nil {
		require.Nil(t, r.Slab)
		r.Slab = s.slot
	}
	games := numbers[uint32](r.Envs)
	for k, part := range gamesOf(s.Games, r.Slab, len(games)) {
		s.told[games[k]] = append(s.told[games[k]], part)
	}
	return games
}

// apart steps each game so often through send and recv, in the order in which they finish.
func (s *story) apart(t testing.TB, steps int) {
	t.Helper()
	all := s.numbered()
	s.send(t, all[3], all[1])
	s.send(t, append(all[4:], all[0], all[2])...)
	for left := s.NumEnvs * steps; left > 0; {
		for _, i := range s.take(t, 1+left%3) {
			if left--; len(s.told[i]) <= steps {
				s.send(t, i)
			}
		}
		s.records = append(s.records, fetch(t, s.Games).Lines...)
	}
	require.Empty(t, recv(t, s.Games, 1, 1), "nothing is in flight: there is nothing to wait for")
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
					want, got := begin(t, opened(t, game, options)), begin(t, opened(t, game, options))
					if slots {
						got.slot = sharedSlab(t, got.Games)
					}
					want.together(t, steps)
					got.apart(t, steps)
					require.Equal(t, want.told, got.told)
					require.NotEmpty(t, recordsIn(t, got.records, games.Find(config().Games, game)))
					require.ElementsMatch(t, linesOf(want.records), linesOf(got.records))
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
	type busy struct {
		InFlight int `msgpack:"in_flight"`
		Workers  int `msgpack:"workers"`
	}
	require.Equal(t, busy{1, 2}, result[busy](t, g, "stream_stats"))
	close(open)
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "last"}), "it waits for the games being stepped")
	require.Len(t, recv(t, g, 1, 16), 1)
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
	write(t, conn, request(t, "recv", 1, 1, 1, 60_000))
	time.Sleep(20 * time.Millisecond)
	require.Zero(t, asks(t, conn, request(t, "ping")), "the answer to recv")
	require.Zero(t, answer(t, conn))
	require.Less(t, time.Since(begun), time.Minute, "it did not wait to the end")
	write(t, conn, request(t, "recv", 1, 1, 1, 60_000))
	require.NoError(t, conn.Close())
	settled(t, before)
}

func TestStreamBadRequests(t *testing.T) {
	p := start(t, func(c *server.Config) { c.Limits.MaxMemory = 4 << 20 })
	g := openGames(t, dial(t, p.unix), "toy:pick", map[string]any{"num_envs": 3, "opponents": map[int]string{1: "first"}})
	require.Equal(t, wire.NeedsReset, code(t, g.Call("send", nil, u32(0), u16(65535))))
	require.Equal(t, wire.NeedsReset, code(t, g.Call("recv", nil, 1, 1, 0)))
	require.NoError(t, g.Reset(nil))
	for _, r := range []struct {
		method string
		params []any
	}{
		{"send", []any{[]byte{1}, []byte{}}}, {"send", []any{u32(0), u16(1, 2)}},
		{"send", []any{u32(3), u16(1)}}, {"send", []any{u32(1, 1), u16(65535, 65535)}},
		{"send", []any{u32(0, 1, 2, 0), u16(0, 0, 0, 0)}}, {"send", []any{"all", u16(1)}},
		{"recv", []any{0, 1, 0}}, {"recv", []any{2, 1, 0}}, {"recv", []any{1, 4, 0}}, {"recv", []any{1, 3, 1 << 30}},
		{"recv", []any{1, 3, 0, 0}}, {"recv", []any{1, 3}}, {"share", []any{1, 4}}, {"share", []any{1, 0}},
	} {
		require.Equal(t, wire.BadParams, code(t, g.Call(r.method, nil, r.params...)), fmt.Sprint(r))
	}
	require.Equal(t, wire.Illegal, code(t, g.Call("send", nil, u32(1), u16(999))))
	require.NoError(t, g.Call("share", nil, 1, 2))
	require.Equal(t, wire.BadParams, code(t, g.Call("step_slot", nil, 0)), "a slot of two games")
	require.Equal(t, wire.BadParams, code(t, g.Call("reset", nil, map[string]any{"slot": 0})))
	require.Equal(t, wire.BadParams, code(t, g.Call("rollout", nil, 1, map[string]any{"slot": 0})))
	require.NoError(t, g.Call("send", nil, u32(0, 2), none(2)))
	require.Equal(t, wire.BadParams, code(t, g.Call("send", nil, u32(1, 2), none(2))), "2 is in flight")
	require.NoError(t, g.Reset(nil), "drops what was not received")
	require.Empty(t, recv(t, g, 1, 3))
	require.NoError(t, g.Step(none(3)))
	require.NoError(t, g.Call("close", nil))
}

// After an opponent failed, recv says so, and a reset of all games lets the handle go on.
func TestStreamAfterFailure(t *testing.T) {
	p := start(t, func(c *server.Config) {
		addAgent(c, "fails", playing(func(context.Context, []env.Action) (env.Action, error) { return env.None, errors.New("no idea") }))
	})
	g := startGames(t, dial(t, p.unix), "toy:pick", map[string]any{"num_envs": 8, "opponents": map[int]string{1: "fails"}})
	send := func() error { return g.Call("send", nil, u32(0, 1, 2, 3, 4, 5, 6, 7), none(8)) }
	require.NoError(t, send())
	require.Equal(t, wire.Opponent, code(t, g.Call("recv", nil, 8, 8, 60_000)))
	require.Equal(t, wire.Opponent, code(t, send()), "until they are reset")
	require.NoError(t, g.Call("set_opponents", nil, map[int]any{1: "first"}))
	require.NoError(t, g.Reset(nil))
	require.NoError(t, send())
	require.Len(t, recv(t, g, 8, 8), 8)
}
