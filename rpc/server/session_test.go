package server_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"blockyard/env"
	"blockyard/env/blockbattle"
	"blockyard/env/envtest/toy"
	"blockyard/env/paint"
	"blockyard/env/vec"
	"blockyard/rpc/wire"
	"blockyard/rpc/wire/client"
)

type states struct {
	Count  int    `msgpack:"count"`
	Len    int    `msgpack:"state_len"`
	States []byte `msgpack:"states"`
}

// boards returns the planes of each game.
func boards(g *client.Games) [][]byte {
	all := bytes.Clone(g.Field("planes"))
	return slices.Collect(slices.Chunk(all, len(all)/g.NumEnvs))
}

func TestSnapshotRestoreClone(t *testing.T) {
	g := started(t, "blockbattle", map[string]any{"num_envs": 6, "seed": 3})
	future(t, g, 5)
	kept := result[states](t, g, "snapshot", nil)
	require.Equal(t, 6, kept.Count)
	require.Equal(t, g.StateLen, kept.Len)
	seen, want := boards(g), future(t, g, 10)

	require.NoError(t, g.CallSlab("restore", nil, kept.States))
	require.Equal(t, seen, boards(g))
	require.Equal(t, want, future(t, g, 10), "the same future")

	other := openGames(t, g.Client(), "blockbattle", map[string]any{"num_envs": 6})
	require.NoError(t, other.CallSlab("restore", nil, kept.States), "into another handle, not yet reset")
	require.Equal(t, want, future(t, other, 10))

	require.NoError(t, g.CallSlab("restore", nil, kept.States, map[string]any{"reseed": 8}))
	require.Equal(t, seen, boards(g), "what is seen stays")
	require.NotEqual(t, want, future(t, g, 10), "another future")

	require.NoError(t, g.CallSlab("restore", nil, kept.States))
	require.NoError(t, g.CallSlab("clone", u32(1, 0), u32(0, 1)), "both at once")
	require.Equal(t, [][]byte{seen[1], seen[0]}, boards(g)[:2])
	require.NoError(t, g.CallSlab("clone", u32(2, 2, 2), u32(3, 4, 5), map[string]any{"reseed": 1}))
	require.Equal(t, boards(g)[2], boards(g)[3])
	future(t, g, 10)
	require.NotEqual(t, boards(g)[3], boards(g)[4], "futures differ")

	seen, bad := boards(g), bytes.Clone(kept.States)
	bad[len(bad)-1] ^= 0xff
	require.Equal(t, wire.BadState, code(t, g.CallSlab("restore", nil, bad)))
	require.Equal(t, wire.BadParams, code(t, g.CallSlab("restore", nil, kept.States[1:])))
	require.Equal(t, wire.BadParams, code(t, g.CallSlab("restore", u32(6), kept.States[:kept.Len])))
	require.Equal(t, wire.BadParams, code(t, g.CallSlab("restore", u32(1, 1), kept.States[:2*kept.Len])))
	require.NoError(t, g.CallSlab("restore", []byte{}, []byte{}), "no game at all")
	require.Equal(t, seen, boards(g), "all or nothing")
	classic := openGames(t, g.Client(), "blockbattle:classic", map[string]any{"num_envs": 6})
	require.Equal(t, wire.BadState, code(t, classic.CallSlab("restore", nil, kept.States)), "of another variant")
}

// lists is the result of afterstates and features; that of legal has its first three fields, that of observe no lists.
type lists struct {
	Count    int    `msgpack:"count"`
	Indptr   []byte `msgpack:"indptr"`
	Actions  []byte `msgpack:"actions"`
	Planes   []byte `msgpack:"planes"`
	Globals  []byte `msgpack:"globals"`
	Features []byte `msgpack:"features"`
	Reward   []byte `msgpack:"reward"`
	Done     []byte `msgpack:"done"`
}

// Games play and say what those of a vec.Env do, and afterstates hold what After makes of copies, one by one.
func TestAfterstates(t *testing.T) {
	const n, seed = 5, 21
	g := started(t, "blockbattle", map[string]any{
		"num_envs": n, "seed": seed, "reward": "score", "max_episode_steps": 8})
	twin, err := vec.New(blockbattle.Game, vec.Config{Envs: n, Reward: vec.RewardScore, StepLimit: 8})
	require.NoError(t, err)
	defer twin.Close()
	out, err := twin.NewBatch()
	require.NoError(t, err)
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
	want := lists{Count: 3, Indptr: u32(0)}
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
				want.Actions = append(want.Actions, u16(uint16(action))...)
				want.Planes = append(want.Planes, planes...)
				want.Globals = append(want.Globals, f32(globals...)...)
				want.Reward = append(want.Reward, f32(float32(after.Score(seat)-view.Score(seat)))...)
				want.Done = append(want.Done, done)
			}
			want.Indptr = append(want.Indptr, u32(uint32(len(want.Done)))...)
		}
	}
	require.Equal(t, want, result[lists](t, g, "afterstates", u32(3, 0, 4), map[string]any{"seed": 99}))
	legal := lists{Count: 3, Indptr: want.Indptr, Actions: want.Actions}
	require.Equal(t, legal, result[lists](t, g, "legal", u32(3, 0, 4)))
}

func TestOpponentsAndSwaps(t *testing.T) {
	g := started(t, "blockbattle", map[string]any{
		"num_envs": 4, "opponents": map[int]string{1: "first"}, "max_episode_steps": 3,
	})
	require.Equal(t, 4, g.Rows)
	future(t, g, 10)
	set := func(seat int, spec string) error { return g.Call("set_opponents", nil, map[int]string{seat: spec}) }
	goesOn := func() {
		t.Helper()
		require.NoError(t, set(1, "first"))
		require.NoError(t, g.Reset(nil))
		future(t, g, 10)
	}
	goesOn()
	require.Equal(t, wire.BadParams, code(t, set(0, "first")))
	require.Equal(t, wire.BadParams, code(t, set(1, "nobody")))
	require.NoError(t, set(1, "broken"))
	require.Equal(t, wire.Opponent, code(t, g.Reset(nil)))
	for range 2 {
		require.Equal(t, wire.Opponent, code(t, g.Step(none(4))))
	}
	goesOn()
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
		counted := result[stats](t, g.Client(), "stats")
		require.Equal(t, []int{2, 2}, []int{counted.Illegal, counted.Session.Illegal})
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
	require.Contains(t, svg, ">a &lt; b</text>")
	require.Contains(t, svg, paint.Dark.Surface)
	rgb := result[struct {
		Width  int    `msgpack:"width"`
		Height int    `msgpack:"height"`
		Pixels []byte `msgpack:"pixels"`
	}](t, g, "render", 1, map[string]any{"mode": "rgb"})
	require.Len(t, rgb.Pixels, 3*rgb.Width*rgb.Height)
	require.Equal(t, paint.Side*(2*10+3), rgb.Width, "two boards of ten columns, and margins")
}

type rollout struct {
	Steps   int    `msgpack:"steps"`
	Slabs   []byte `msgpack:"slabs"`
	Actions []byte `msgpack:"actions"`
}

// TestRollout equals the same number of steps one by one. The actions are in the action space, also those of waiting rows.
func TestRollout(t *testing.T) {
	for _, game := range []*env.Game{toy.Pick, toy.Turns} {
		for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
			for _, policy := range []string{"random", "first"} {
				g := started(t, game.Name, map[string]any{"num_envs": 5, "seed": 2, "autoreset": mode})
				r := result[rollout](t, g, "rollout", 50, map[string]any{"policy": policy})
				require.Equal(t, 50, r.Steps)
				require.Len(t, r.Slabs, 50*g.Len)
				require.Len(t, r.Actions, 50*2*g.Rows)
				require.Less(t, slices.Max(numbers[uint16](r.Actions)), uint16(game.Actions))
				if mode == "Disabled" {
					continue
				}
				require.NoError(t, g.Reset(map[string]any{"seed": 2}))
				for k := range 50 {
					require.NoError(t, g.Step(r.Actions[2*k*g.Rows:2*(k+1)*g.Rows]))
					require.Equal(t, r.Slabs[k*g.Len:(k+1)*g.Len], g.Slab)
				}
			}
		}
	}
}

// TestWaitingRows plays toy:turns with all three seats through the ends of games: every seat has its
// row, and a row that need not act has one action, 0, which changes nothing.
func TestWaitingRows(t *testing.T) {
	for _, autoreset := range []string{"NextStep", "SameStep"} {
		g := started(t, "toy:turns", map[string]any{"num_envs": 4, "seed": 3, "autoreset": autoreset})
		require.Equal(t, 3, g.RowsPerEnv)
		require.Equal(t, []byte{0, 255, 255}, g.Field("seat")[:3])
		planes, globals := toy.Turns.Planes.Len(), 4*toy.Turns.Globals()
		var choose chooser
		for range 25 {
			after, legal := result[lists](t, g, "afterstates", nil), result[lists](t, g, "legal", nil)
			require.Equal(t, lists{Count: 4, Indptr: after.Indptr, Actions: after.Actions}, legal)
			ends, actions := numbers[uint32](after.Indptr), choose.of(g)
			for row, seat := range g.Field("seat") {
				first, end := int(ends[row]), int(ends[row+1])
				require.Less(t, first, end, "every row has an action")
				if seat != 255 {
					require.Equal(t, byte(row%3), seat)
					continue
				}
				require.Equal(t, first+1, end)
				require.Equal(t, []byte{0, 0}, after.Actions[2*first:2*end])
				require.Equal(t, g.Field("planes")[row*planes:(row+1)*planes], after.Planes[first*planes:end*planes])
				require.Equal(t, g.Field("globals")[row*globals:(row+1)*globals], after.Globals[first*globals:end*globals])
				require.Equal(t, []byte{0, 0, 0, 0}, after.Reward[4*first:4*end])
				over := g.Field("terminated")[row/3]
				if autoreset == "SameStep" {
					over = 0 // the next game has begun
				}
				require.Equal(t, over, after.Done[first])
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
					after := result[lists](t, g, "afterstates", u32(uint32(i)), map[string]any{"seed": 8})
					told[i] += fmt.Sprint(boards(g)[i], after, result[states](t, g, "snapshot", u32(uint32(i))))
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
