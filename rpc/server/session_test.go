package server_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest"
	"blockyard/env/envtest/toy"
	"blockyard/env/games"
	"blockyard/env/paint"
	"blockyard/env/vec"
	"blockyard/rpc/server"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

// boards returns the planes of each game.
func boards(g *client.Games) [][]byte {
	all := bytes.Clone(g.Field("planes"))
	return slices.Collect(slices.Chunk(all, len(all)/g.NumEnvs))
}

func TestSnapshotRestoreClone(t *testing.T) {
	g := started(t, "blockbattle", map[string]any{"num_envs": 6, "seed": 3})
	future(t, g, 5)
	kept := ask(t, g, "snapshot", nil)
	require.Equal(t, []any{6, g.StateLen}, []any{kept["count"], kept["state_len"]})
	all := kept.bytes("states")
	seen, want := boards(g), future(t, g, 10)

	require.NoError(t, g.CallSlab("restore", nil, all))
	require.Equal(t, seen, boards(g))
	require.Equal(t, want, future(t, g, 10), "the same future")

	other := openGames(g.Client(), "blockbattle", map[string]any{"num_envs": 6})
	require.NoError(t, other.CallSlab("restore", nil, all), "into another handle, not yet reset")
	require.Equal(t, want, future(t, other, 10))

	require.NoError(t, g.CallSlab("restore", nil, all, map[string]any{"reseed": 8}))
	require.Equal(t, seen, boards(g), "what is seen stays")
	require.NotEqual(t, want, future(t, g, 10), "another future")

	require.NoError(t, g.CallSlab("restore", nil, all))
	require.NoError(t, g.CallSlab("clone", u32(1, 0), u32(0, 1)), "both at once")
	require.Equal(t, [][]byte{seen[1], seen[0]}, boards(g)[:2])
	require.NoError(t, g.CallSlab("clone", u32(2, 2, 2), u32(3, 4, 5), map[string]any{"reseed": 1}))
	require.Equal(t, boards(g)[2], boards(g)[3])
	future(t, g, 10)
	require.NotEqual(t, boards(g)[3], boards(g)[4], "futures differ")

	seen, bad := boards(g), bytes.Clone(all)
	bad[len(bad)-1] ^= 0xff
	require.Equal(t, wire.BadState, code(t, g.CallSlab("restore", nil, bad)))
	refuses(t, g, wire.BadParams, map[string][][]any{
		"restore": {{nil, all[1:]}, {u32(6), all[:g.StateLen]}, {u32(1, 1), all[:2*g.StateLen]}}})
	require.NoError(t, g.CallSlab("restore", []byte{}, []byte{}), "no game at all")
	require.Equal(t, seen, boards(g), "all or nothing")
	classic := openGames(g.Client(), "blockbattle:classic", map[string]any{"num_envs": 6})
	require.Equal(t, wire.BadState, code(t, classic.CallSlab("restore", nil, all)), "of another variant")
}

// Games play and say what those of a vec.Env do, and afterstates hold what After makes of copies, one by one.
func TestAfterstates(t *testing.T) {
	const n, seed = 5, 21
	g := started(t, "blockbattle", map[string]any{
		"num_envs": n, "seed": seed, "reward": "score", "max_episode_steps": 8})
	twin := envtest.Must(vec.New(blockbattle.Game, vec.Config{Envs: n, Reward: vec.RewardScore, StepLimit: 8}))
	defer twin.Close()
	out := envtest.Must(twin.NewBatch())
	require.NoError(t, twin.Reset(vec.From(seed), nil, out))
	var c chooser
	for range 12 {
		for name, want := range map[string][]byte{"planes": out.Planes, "globals": f32(out.Globals...), "mask": out.Legal,
			"seat": out.Seat, "reward": f32(out.Reward...), "terminated": out.Terminated, "truncated": out.Truncated,
			"score": little(out.Score)} {
			require.Equal(t, want, g.Field(name), name)
		}
		actions := c.of(g)
		require.NoError(t, g.Step(actions))
		require.NoError(t, twin.Step(numbers[env.Action](actions), out))
	}
	want := fields{"count": 3, "indptr": u32(0)}
	add := func(name string, more ...byte) { want[name] = append(want.bytes(name), more...) }
	view, after := blockbattle.Game.New(2), blockbattle.Game.New(2)
	planes, globals := make([]byte, blockbattle.Game.Planes.Len()), make([]float32, blockbattle.Game.Globals())
	for _, i := range []int{3, 0, 4} {
		for seat := range 2 {
			env.View(view, twin.State(i), seat, env.Derive(99, uint64(2*i+seat)))
			for _, action := range view.Legal(seat, nil) {
				after.CopyFrom(view)
				env.After(after, seat, action)
				after.Observe(seat, planes, globals)
				done := byte(0)
				if after.Acting() == 0 {
					done = 1
				}
				add("actions", u16(uint16(action))...)
				add("planes", planes...)
				add("globals", f32(globals...)...)
				add("reward", f32(float32(after.Score(seat)-view.Score(seat)))...)
				add("done", done)
			}
			add("indptr", u32(uint32(len(want.bytes("done"))))...)
		}
	}
	require.Equal(t, want, ask(t, g, "afterstates", u32(3, 0, 4), map[string]any{"seed": 99}))
	legal := fields{"count": 3, "indptr": want["indptr"], "actions": want["actions"]}
	require.Equal(t, legal, ask(t, g, "legal", u32(3, 0, 4)))
}

// An illegal action is an error, and then nothing is stepped, or it is replaced, marked and counted, also for the session.
func TestIllegalActions(t *testing.T) {
	for _, treatment := range []string{"error", "penalty", "random"} {
		g := started(t, "toy:turns", map[string]any{"num_envs": 2, "seed": 3, "illegal": treatment})
		seen := bytes.Clone(g.Slab)
		err := g.Step(bytes.Repeat([]byte{0xF0}, 2*6))
		if treatment == "error" {
			require.Equal(t, wire.Illegal, code(t, err))
			require.NoError(t, g.CallSlab("restore", []byte{}, []byte{}))
			require.Equal(t, seen, g.Slab, "nothing was stepped")
			require.Nil(t, g.Field("illegal"), "an error needs no marks")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, []byte{1, 0, 0, 1, 0, 0}, g.Field("illegal"), "those of waiting rows are not illegal")
		require.NoError(t, g.Step(none(6)))
		require.Equal(t, make([]byte, 6), g.Field("illegal"), "65535 is no action")
		counted := ask(t, g.Client(), "stats")
		require.Equal(t, []any{2, 2}, []any{counted["illegal"], counted["session"].(map[string]any)["illegal"]})
		require.NoError(t, g.Reset(nil))
		require.Equal(t, make([]byte, 6), g.Field("illegal"))
	}
}

func TestFieldsAndRender(t *testing.T) {
	g := started(t, "blockbattle", map[string]any{"num_envs": 2, "fields": []string{"mask"}})
	require.Nil(t, g.Field("planes"))
	require.NotNil(t, g.Field("mask"))
	require.NotNil(t, g.Field("reward"))
	require.NoError(t, g.Call("final", nil))
	require.Contains(t, result[string](t, g, "render", 1), "player1")
	require.Contains(t, result[string](t, g, "render", 1, map[string]any{"mode": "ansi"}), "\x1b[")
	svg := result[string](t, g, "render", 1, map[string]any{"mode": "svg", "title": "a < b", "theme": "dark"})
	envtest.Has(t, svg, ">a &lt; b</text>", paint.Dark.Surface)
	rgb := ask(t, g, "render", 1, map[string]any{"mode": "rgb"})
	require.Len(t, rgb["pixels"], 3*rgb["width"].(int)*rgb["height"].(int))
	require.Equal(t, paint.Side*(2*10+3), rgb["width"], "two boards of ten columns, and margins")
}

// TestRollout equals the same number of steps one by one. The actions are in the action space, also those of waiting rows.
func TestRollout(t *testing.T) {
	for _, game := range []*env.Game{toy.Pick, toy.Turns} {
		for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
			for _, policy := range []string{"random", "first"} {
				g := started(t, game.Name, map[string]any{"num_envs": 5, "seed": 2, "autoreset": mode})
				r := ask(t, g, "rollout", 50, map[string]any{"policy": policy})
				slabs, actions := r.bytes("slabs"), r.bytes("actions")
				require.Equal(t, 50, r["steps"])
				require.Len(t, slabs, 50*g.Len)
				require.Len(t, actions, 50*2*g.Rows)
				require.Less(t, slices.Max(numbers[uint16](actions)), uint16(game.Actions))
				if mode == "Disabled" {
					continue
				}
				require.NoError(t, g.Reset(map[string]any{"seed": 2}))
				for k := range 50 {
					require.NoError(t, g.Step(actions[2*k*g.Rows:2*(k+1)*g.Rows]))
					require.Equal(t, slabs[k*g.Len:(k+1)*g.Len], g.Slab)
				}
			}
		}
	}
}

// Every seat has its row, also at the ends of games. One that need not act has one action, 0, which changes nothing.
func TestWaitingRows(t *testing.T) {
	for _, autoreset := range []string{"NextStep", "SameStep"} {
		g := started(t, "toy:turns", map[string]any{"num_envs": 4, "seed": 3, "autoreset": autoreset})
		require.Equal(t, 3, g.RowsPerEnv)
		require.Equal(t, []byte{0, 255, 255}, g.Field("seat")[:3])
		planes, globals := toy.Turns.Planes.Len(), 4*toy.Turns.Globals()
		var choose chooser
		for range 25 {
			after, actions := ask(t, g, "afterstates", nil), choose.of(g)
			ends := numbers[uint32](after.bytes("indptr"))
			for row, seat := range g.Field("seat") {
				first, end := int(ends[row]), int(ends[row+1])
				if seat != 255 {
					require.Equal(t, byte(row%3), seat)
					continue
				}
				over := g.Field("terminated")[row/3]
				if autoreset == "SameStep" {
					over = 0 // the next game has begun
				}
				for name, want := range map[string][]byte{"actions": {0, 0}, "reward": {0, 0, 0, 0}, "done": {over},
					"planes": g.Field("planes")[row*planes:][:planes], "globals": g.Field("globals")[row*globals:][:globals]} {
					require.Equal(t, want, after.bytes(name)[first*len(want):end*len(want)], name)
				}
				binary.LittleEndian.PutUint16(actions[2*row:], uint16(row*7919))
			}
			require.NoError(t, g.Step(actions), "the actions of waiting rows are ignored")
		}
	}
	compact := started(t, "toy:turns", map[string]any{"num_envs": 2, "rows": "acting"})
	require.Equal(t, []byte{0, 0}, compact.Field("seat"), "one row of each game, of the seat that acts")
}

// Two handles with a part of the games each do and draw what one would: in rollouts, against mixtures of opponents, also
// after one seat has got another opponent, for afterstates and for copies.
func TestFirst(t *testing.T) {
	for game, opponents := range map[string]map[int]any{
		"blockbattle": {}, "toy:turns": {0: mixed("first", 1, "last", 2), 2: mixed("last", 1, "first", 1)},
	} {
		run := func(first, n int) []string {
			g := started(t, game, map[string]any{"num_envs": n, "first": first, "seed": 5, "opponents": opponents})
			told := make([]string, n)
			for k := range 8 {
				if k == 4 && len(opponents) > 0 {
					require.NoError(t, g.Call("set_opponents", nil, map[int]any{0: "again"}))
				}
				roll(t, g, 7)
				require.NoError(t, g.CallSlab("clone", nil, nil, map[string]any{"reseed": k}))
				for i := range told {
					after := ask(t, g, "afterstates", u32(uint32(i)), map[string]any{"seed": 8})
					told[i] += fmt.Sprint(boards(g)[i], after, ask(t, g, "snapshot", u32(uint32(i))))
					if len(opponents) > 0 {
						told[i] += fmt.Sprint(g.Field("opponent")[6*i : 6*i+6])
					}
				}
			}
			return told
		}
		whole := run(0, 10)
		require.Equal(t, whole, append(run(0, 3), run(3, 7)...))
		if game == "toy:turns" {
			all := strings.Join(whole, "")
			require.Contains(t, all, "[2 0 255 255 1 0]", "again, the client, last")
			require.Contains(t, all, "[2 0 255 255 0 0]", "again, the client, first: numbers are of the handle, not of a seat")
		}
	}
}

// refuses wants an error with a code for each of some requests, by method.
func refuses(t testing.TB, c caller, want int, requests map[string][][]any) {
	for method, all := range requests {
		for _, params := range all {
			require.Equal(t, want, code(t, c.Call(method, nil, params...)), "%s %v", method, params)
		}
	}
}

func TestBadRequests(t *testing.T) {
	p := start(t, nil)
	c := dial(t, p.unix)
	g := startGames(t, c, "toy:pick", map[string]any{"num_envs": 2})
	for _, major := range []int{2, 4} { // which ends the connection
		hello := map[string]any{"proto": []int{major, 0}}
		require.Equal(t, wire.Version, code(t, dial(t, p.unix).Call("hello", nil, hello)))
	}
	for _, options := range []map[string]any{
		{"num_env": 3}, {"num_envs": 0}, {"num_envs": -1}, {"num_envs": uint64(math.MaxUint64)}, {"num_envs": 1 << 40},
		{"num_envs": "many"}, {"seats": 3}, {"autoreset": "Never"}, {"rows": "game"}, {"reward": "money"}, {"illegal": "maybe"},
		{"max_episode_steps": -5}, {"seed": -1}, {"seed": math.MinInt64}, {"seed": "1"}, {"first": -1},
		{"fields": []string{"colour"}}, {"seeds": []byte{1}}, {"opponents": map[int]string{2: "first"}},
		{"opponents": map[int]string{0: "first", 1: "first"}}, {"opponents": map[int]string{1: "nobody"}},
	} {
		require.Equal(t, wire.BadParams, code(t, c.Call("open", nil, "toy:pick", options)), options)
	}
	for want, requests := range map[int]map[string][][]any{
		wire.UnknownMethod: {"nothing": {nil}, "": {nil}},
		wire.UnknownGame:   {"open": {{"chess"}}, "describe": {{""}}},
		wire.BadHandle:     {"reset": {{9}}},
		wire.BadParams: {
			"ping": {{1}}, "describe": {{5}}, "open": {nil},
			"reset": {nil, {-1}, {1, map[string]any{"seed": -1}}, {1, map[string]any{"mask": []byte{1}}},
				{1, map[string]any{"mask": []byte{0, 0}}}, {1, map[string]any{"seed": 1, "seeds": make([]byte, 16)}}},
			"afterstates":    {{1, nil, map[string]any{"seed": -300}}},
			"legal":          {{1, []byte{1, 2}}, {1, u32(2)}, {1, u32(1, 1)}, {1, "all"}},
			"clone":          {{1, u32(0), u32(1), map[string]any{"reseed": -1}}, {1, u32(0), u32(0, 1)}},
			"render":         {{1, 2}, {1, 0, map[string]any{"mode": "video"}}, {1, 0, map[string]any{"mode": "svg", "theme": "grey"}}},
			"rollout":        {{1, 0}, {1, 1 << 40}, {1, 1, map[string]any{"keep": "some"}}},
			"text":           {{"toy:pick", []byte{1}}, {"toy:pick", u16(9)}},
			"set_opponents":  {{1, map[int]any{7: "first"}}, {1, map[int]any{}}, {1, map[string]any{"one": "first"}}},
			"opponent_stats": {{1, map[string]any{"reset": 1}}},
			"upload": {{"toy:pick", "net:weights=sha256:00", []byte("good")}, {"toy:pick", "first", []byte("good")},
				{"toy:pick", "first"}},
			"drop_upload": {{"sha256:00"}},
		},
	} {
		refuses(t, c, want, requests)
	}
	require.NoError(t, g.Step(none(4)), "the handle works after all of that")
}

// A client with a small max_reply reads in parts what another one gets at once, alike in every autoreset mode.
func TestFinalInParts(t *testing.T) {
	large := start(t, nil)
	small := start(t, func(c *server.Config) { c.Limits.MaxReply = 64 << 10 })
	for _, game := range []string{"toy:turns", "blockbattle"} {
		var before fields
		for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
			ended := func(p *place) caller {
				g := startGames(t, dial(t, p.unix), game, map[string]any{"num_envs": 2000, "seed": 4, "autoreset": mode,
					"reward": "score", "max_episode_steps": 2, "illegal": "random", "packed": game == "blockbattle",
					"opponents": map[int]string{1: "first"}})
				for range 2 {
					require.Zero(t, ask(t, g, "final")["ended"])
					require.NoError(t, g.Step(make([]byte, 2*g.Rows)))
				}
				return g
			}
			whole, g := ask(t, ended(large), "final"), ended(small)
			require.Equal(t, slices.Repeat([]uint32{2}, 2000), numbers[uint32](whole.bytes("lengths")))
			parts, joined := 0, fields{}
			for ; len(joined.bytes("envs")) < 4*2000; parts++ {
				part := ask(t, g, "final", len(joined.bytes("envs"))/4)
				require.NotEmpty(t, part["envs"])
				for name, more := range part {
					if b, ok := more.([]byte); ok {
						more = append(joined.bytes(name), b...)
					}
					joined[name] = more
				}
			}
			require.Equal(t, whole, joined, "%s %s", game, mode)
			require.Greater(t, parts, 1)
			require.Empty(t, ask(t, g, "final", 2000)["envs"])
			if before != nil {
				require.Equal(t, before, whole)
			}
			before = whole
		}
	}
}

// A pushed notification has what final returns, and follows every step that ends games, and no other one.
func TestFinalIsPushed(t *testing.T) {
	small := start(t, func(c *server.Config) { c.Limits.MaxReply = 4 << 10 })
	poor := start(t, func(c *server.Config) { c.Limits.MaxReplies = 1 })
	options := map[string]any{"num_envs": 40, "autoreset": "SameStep", "seed": 1,
		"illegal": "random", "opponents": map[int]string{1: "first"}}
	for _, p := range []*place{start(t, nil), small, poor} {
		g := startGames(t, dial(t, p.unix), "toy:pick", options)
		conn := g.Client().Conn()
		from := msgpack.NewDecoder(conn)
		ask := func(method string, params ...any) any {
			write(conn, request(method, params...))
			answer := envtest.Must(from.DecodeSlice())
			require.Equal(t, []any{4, nil}, []any{len(answer), answer[2]})
			return answer[3]
		}
		require.Equal(t, true, ask("push_final", 1))
		ends := 0
		for range 200 {
			g.Slab = ask("step", 1, make([]byte, 2*40)).([]byte)
			ended := bytes.Count(g.Field("terminated"), []byte{1})
			if ended == 0 {
				continue
			}
			ends++
			pushed := envtest.Must(from.DecodeSlice())
			params := pushed[2].([]any)
			head := append(pushed[:2:2], params[:2]...)
			require.Equal(t, fmt.Sprint([]any{wire.Notification, "final", 1, 77}), fmt.Sprint(head), "handle, request")
			got := params[2].(map[string]any)
			require.EqualValues(t, ended, got["ended"])
			if p == poor {
				require.Empty(t, got["envs"])
				continue
			}
			require.Equal(t, ask("final", 1, 0), any(got))
			require.LessOrEqual(t, len(got["envs"].([]byte)), 4*ended)
		}
		require.Greater(t, ends, 10)
	}
	g := opened(t, "toy:pick", map[string]any{"autoreset": "NextStep"})
	require.ErrorContains(t, g.Call("push_final", nil), "the autoreset mode is NextStep, want SameStep")
}

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
					o["num_envs"], o["seed"] = 5, 3
					want, got := opened(t, game, o), opened(t, game, o)
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
	conn := greeted(t, p.unix, request("open", "toy:pick", options), request("reset", 1), request("send", 1, u32(0), u16(65535)))
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
