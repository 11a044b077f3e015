package server_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vmihailenco/msgpack/v5"

	"blockyard/rpc/server"
	"blockyard/rpc/wire"
)

type finals struct {
	Envs      []byte `msgpack:"envs"`
	Planes    []byte `msgpack:"planes"`
	Globals   []byte `msgpack:"globals"`
	Mask      []byte `msgpack:"mask"`
	Seat      []byte `msgpack:"seat"`
	Scores    []byte `msgpack:"scores"`
	Lengths   []byte `msgpack:"lengths"`
	Opponents []byte `msgpack:"opponents"`
}

// TestFinal plays the same games under each autoreset mode: they end alike.
func TestFinal(t *testing.T) {
	ends := func(mode string) (all []finals) {
		g := opened(t, "blockbattle", map[string]any{
			"num_envs": 8, "seed": 4, "autoreset": mode, "max_episode_steps": 30, "reward": "score",
		})
		require.NoError(t, g.CallSlab("reset"))
		none := bytes.Repeat([]byte{0xff}, 2*g.Rows)
		over := make([]bool, 8)
		for step := range 40 {
			if mode == "Disabled" {
				mask, some := make([]byte, 8), false
				for i := range over {
					if over[i] {
						mask[i], over[i], some = 1, false, true
					}
				}
				if some {
					require.Equal(t, wire.NeedsReset, code(t, g.Step(none)))
					require.NoError(t, g.CallSlab("reset", map[string]any{"mask": mask}))
				}
			}
			require.NoError(t, g.Step(none))
			var f finals
			require.NoError(t, g.Call("final", &f))
			for k := 0; k < len(f.Envs); k += 4 {
				over[binary.LittleEndian.Uint32(f.Envs[k:])] = true
				length := binary.LittleEndian.Uint32(f.Lengths[k:])
				require.Positive(t, length)
				require.LessOrEqual(t, length, uint32(30))
			}
			if len(f.Envs) > 0 && len(all) == 0 {
				require.EqualValues(t, step+1, binary.LittleEndian.Uint32(f.Lengths))
			}
			if len(f.Envs) > 0 {
				all = append(all, f)
			}
		}
		return all
	}
	next, same, disabled := ends("NextStep"), ends("SameStep"), ends("Disabled")
	require.NotEmpty(t, next)
	require.Equal(t, next[0], same[0])
	require.Equal(t, next[0], disabled[0])
	require.Equal(t, same, disabled, "both begin a new game without losing a step")
}

// TestFinalInParts: a client with a small max_reply reads in parts what another one gets at once. Without parts it is
// refused.
func TestFinalInParts(t *testing.T) {
	large := start(t, nil)
	small := start(t, func(c *server.Config) { c.Limits.MaxReply = 64 << 10 })
	for _, game := range []string{"toy:turns", "blockbattle"} {
		for _, mode := range []string{"NextStep", "SameStep", "Disabled"} {
			options := map[string]any{"num_envs": 2000, "autoreset": mode, "max_episode_steps": 1, "illegal": "random",
				"packed": mode == "NextStep", "opponents": map[int]string{1: "first"}}
			var whole finals
			for _, p := range []*place{large, small} {
				g, err := dial(t, p.unix).Open(game, options)
				require.NoError(t, err)
				require.NoError(t, g.CallSlab("reset"))
				require.NoError(t, g.Step(make([]byte, 2*g.Rows)))
				if p == large {
					require.NoError(t, g.Call("final", &whole))
					require.Len(t, whole.Envs, 4*2000)
					continue
				}
				parts, joined := 0, finals{}
				for len(joined.Envs) < len(whole.Envs) {
					var part struct {
						finals `msgpack:",inline"`
						Ended  int `msgpack:"ended"`
					}
					require.NoError(t, g.Call("final", &part, len(joined.Envs)/4))
					require.Equal(t, 2000, part.Ended)
					require.NotEmpty(t, part.Envs)
					for _, v := range []struct{ all, more *[]byte }{
						{&joined.Envs, &part.Envs}, {&joined.Planes, &part.Planes}, {&joined.Globals, &part.Globals},
						{&joined.Mask, &part.Mask}, {&joined.Seat, &part.Seat}, {&joined.Scores, &part.Scores},
						{&joined.Lengths, &part.Lengths}, {&joined.Opponents, &part.Opponents},
					} {
						*v.all = append(*v.all, *v.more...)
					}
					parts++
				}
				require.Equal(t, whole, joined, "%s %s", game, mode)
				require.Greater(t, parts, 1)
				var none finals
				require.NoError(t, g.Call("final", &none, 2000))
				require.Empty(t, none.Envs)
			}
		}
	}
}

// A pushed notification has what final returns, and follows every step that ends games, and no other one.
func TestFinalIsPushed(t *testing.T) {
	small := start(t, func(c *server.Config) { c.Limits.MaxReply = 4 << 10 })
	poor := start(t, func(c *server.Config) { c.Limits.MaxReplies = 1 })
	for name, p := range map[string]*place{"all": start(t, nil), "some": small, "none": poor} {
		t.Run(name, func(t *testing.T) {
			conn := raw(t, p.unix)
			from := msgpack.NewDecoder(conn)
			ask := func(method string, params ...any) []any {
				_, err := conn.Write(request(t, method, params...))
				require.NoError(t, err)
				answer, err := from.DecodeSlice()
				require.NoError(t, err)
				require.Len(t, answer, 4)
				require.Nil(t, answer[2])
				return answer
			}
			ask("hello", map[string]any{"proto": []int{3, 0}})
			opened := ask("open", "toy:pick", map[string]any{"num_envs": 40, "autoreset": "SameStep", "seed": 1,
				"illegal": "random", "opponents": map[int]string{1: "first"}})[3].(map[string]any)
			require.Equal(t, true, ask("push_final", 1)[3])
			ask("reset", 1)
			var terminated int64
			for _, f := range opened["layout"].([]any) {
				if f := f.(map[string]any); f["name"] == "terminated" {
					terminated = number(t, f["off"])
				}
			}
			ends := 0
			for range 200 {
				slab := ask("step", 1, make([]byte, 2*40))[3].([]byte)
				ended := bytes.Count(slab[terminated:terminated+40], []byte{1})
				if ended == 0 {
					continue
				}
				ends++
				pushed, err := from.DecodeSlice()
				require.NoError(t, err)
				require.Len(t, pushed, 3)
				require.EqualValues(t, wire.Notification, pushed[0])
				require.Equal(t, "final", pushed[1])
				params := pushed[2].([]any)
				require.EqualValues(t, 1, params[0], "the handle")
				require.EqualValues(t, 77, params[1], "the request")
				got := params[2].(map[string]any)
				require.EqualValues(t, ended, got["ended"])
				if p == poor {
					require.Empty(t, got["envs"])
					continue
				}
				want := ask("final", 1, 0)[3].(map[string]any)
				require.Equal(t, want, got)
				require.LessOrEqual(t, len(got["envs"].([]byte)), 4*ended)
			}
			require.Greater(t, ends, 10)
		})
	}
	g := opened(t, "toy:pick", map[string]any{"autoreset": "NextStep"})
	require.ErrorContains(t, g.Call("push_final", nil), "the autoreset mode is NextStep, want SameStep")
}

func number(t *testing.T, v any) int64 {
	t.Helper()
	var n int64
	_, err := fmt.Sscan(fmt.Sprint(v), &n)
	require.NoError(t, err)
	return n
}
